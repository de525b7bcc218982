// Package config reads the settings of the program: a file in TOML, over it the environment, over both whatever the caller's flags say. It is
// strict: a key that it does not know, or a value that makes no sense, is an error that names file and line, so that a setting that the user
// relies on is never silently ignored.
//
// [Settings] lists all of them. [FindPaths] says where files lie.
package config
