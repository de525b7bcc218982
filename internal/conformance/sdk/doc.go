// Package sdk tries the official TypeScript SDK with a real CLI and with the simulated one as its executable, and compares what the SDK's user
// gets to see. It has no code besides its test and the script that the test runs.
package sdk
