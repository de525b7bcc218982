package dial

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
)

// TokenFrom returns the CLI's token by the environment env: the value of CLAUDE_CODE_SESSION_ACCESS_TOKEN at the time it is asked for, else
// what can be read from the descriptor whose number is in CLAUDE_CODE_WEBSOCKET_AUTH_FILE_DESCRIPTOR, without white space around it. The
// descriptor is read once and stays open. A number that is none, or that of nothing readable, means no token, as with the real programs.
// The returned function is safe for concurrent use if env is.
func TokenFrom(env func(name string) string) func() string {
	descriptor := sync.OnceValue(func() string {
		number, err := strconv.ParseUint(env("CLAUDE_CODE_WEBSOCKET_AUTH_FILE_DESCRIPTOR"), 10, 31)
		if err != nil {
			return ""
		}
		// By its path, since the descriptor is not ours: an os.File made of the number would close it one day.
		token, err := os.ReadFile("/dev/fd/" + strconv.FormatUint(number, 10))
		if err != nil {
			return ""
		}
		return strings.TrimSpace(string(token))
	})
	return func() string {
		if token := env("CLAUDE_CODE_SESSION_ACCESS_TOKEN"); token != "" {
			return token
		}
		return descriptor()
	}
}

// HeaderFrom returns the further headers that the CLI sends with every upgrade by the environment env.
func HeaderFrom(env func(name string) string) http.Header {
	if version := env("CLAUDE_CODE_ENVIRONMENT_RUNNER_VERSION"); version != "" {
		return http.Header{"X-Environment-Runner-Version": {version}}
	}
	return nil
}

// TLSFrom returns what the CLI trusts by the environment env: the system's certificates and those in the file that NODE_EXTRA_CA_CERTS names.
// A file that cannot be read is ignored, as the real programs do.
func TLSFrom(env func(name string) string) *tls.Config {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	name := env("NODE_EXTRA_CA_CERTS")
	if name == "" {
		return config
	}
	extra, err := os.ReadFile(name)
	if err != nil {
		return config
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	roots.AppendCertsFromPEM(extra)
	config.RootCAs = roots
	return config
}
