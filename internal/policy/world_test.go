package policy

import (
	"errors"
	"path"
	"strings"
	"time"
)

// The world of the tables in docs/rules.md.
const (
	testHome  = "/home/u"
	testDir   = "/home/u/work"
	testExtra = "/home/u/extra"
)

var testOwn = []string{"/home/u/.config/switchboard", "/home/u/.local/share/switchboard"}

var testNow = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

// testLinks are the links of that world; whatever else is asked for is no link.
var testLinks = map[string]string{
	"/home/u/work/link":  "/etc",
	"/home/u/work/inner": "src",
	"/home/u/work/keys":  "../.ssh",
	"/home/u/work/mine":  "/home/u/.config/switchboard",
	"/home/u/work/loop":  "loop",
	"/srv/work":          "/home/u/work",
	"/home/u/.vault":     "/secure/vault",
}

// testDirs are the folders of that world that commands are given.
var testDirs = map[string]bool{
	testHome: true, testDir: true, testExtra: true, testDir + "/src": true, testDir + "/d1": true, testDir + "/d2": true,
}

// resolver follows links of a world that exists in a map only. It is written
// without a look at Real, so that the two can be compared.
func resolver(links map[string]string) Resolver {
	return func(name string) (string, error) {
		if !strings.HasPrefix(name, "/") {
			return "", errors.New("it is not absolute")
		}
		parts := strings.Split(name, "/")
		at := "/"
		for n := 0; len(parts) > 0; n++ {
			if n > 1000 {
				return "", errors.New("it leads through too many links")
			}
			part := parts[0]
			parts = parts[1:]
			next := path.Join(at, part)
			if target, ok := links[next]; ok && part != "" && part != "." && part != ".." {
				if path.IsAbs(target) {
					at = "/"
				}
				parts = append(strings.Split(target, "/"), parts...)
				continue
			}
			at = next
		}
		return at, nil
	}
}

func testOptions() Options {
	return Options{Home: testHome, Own: testOwn, Resolve: resolver(testLinks), IsDir: func(name string) bool { return testDirs[name] }}
}
