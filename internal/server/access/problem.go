package access

import (
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/switchboard-dev/switchboard/api"
)

// ProblemType is the content type of errors.
const ProblemType = "application/problem+json"

// WriteProblem answers a request with an error, in the form of RFC 9457.
func WriteProblem(w http.ResponseWriter, e *api.Error) {
	body, err := json.Marshal(e)
	if err != nil { // a question in it that is not JSON
		body, _ = json.Marshal(&api.Error{Status: e.Status, Code: e.Code, Title: e.Title, Detail: e.Detail, Hint: e.Hint})
	}
	h := w.Header()
	h.Set("Content-Type", ProblemType)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	if e.Status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", "Bearer")
	}
	w.WriteHeader(e.Status)
	_, _ = w.Write(body) // the client may be gone
}
