// Package sdk tries the official TypeScript SDK with a real CLI and with the simulated one as its executable, and compares what the SDK's user
// gets to see; a benchmark compares its speed with that of our own. It has no code besides these tests and the scripts that they run.
package sdk
