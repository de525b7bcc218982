package report

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/internal/record"
)

// The marks of words in the journal's snippets.
const (
	markBegin = '\x02'
	markEnd   = '\x03'
)

// Search finds messages by their text, the newest first.
func (p *Reports) Search(ctx context.Context, f api.SearchFilter) (*api.SearchResult, error) {
	if strings.TrimSpace(f.Text) == "" {
		return nil, record.Unfit("q: enter a search text")
	}
	if f.Session != "" {
		if _, err := p.journal.Session(ctx, f.Session); err != nil {
			return nil, p.problem(err, f.Session)
		}
	}
	page, err := p.journal.Search(ctx, journal.SearchQuery{Text: withBeginning(f.Text), Session: f.Session, Cursor: f.Cursor, Limit: limited(f.Limit, 20, 100)})
	if err != nil {
		return nil, p.searchProblem(err, f.Session)
	}
	result := &api.SearchResult{Hits: make([]api.SearchHit, 0, len(page.Hits)), Next: page.Next}
	rows := map[string]*journal.Session{}
	for _, hit := range page.Hits {
		row := rows[hit.Session]
		if row == nil {
			if row, err = p.journal.Session(ctx, hit.Session); err != nil {
				if errors.Is(err, journal.ErrNotFound) {
					continue // removed since
				}
				return nil, p.problem(err, hit.Session)
			}
			rows[hit.Session] = row
		}
		found := api.SearchHit{
			Session: hit.Session, Title: row.Title, Dir: row.Dir, EventID: record.EventID(row.Epoch, hit.Seq), Seq: hit.Seq, Time: hit.Time, Kind: hit.Kind,
		}
		found.Snippet, found.Marks = marked(hit.Snippet)
		result.Hits = append(result.Hits, found)
	}
	return result, nil
}

// withBeginning returns what is searched for: the last word counts as the beginning
// of one, which the journal finds by a * behind it. Phrases in quotes stay.
func withBeginning(text string) string {
	text = strings.TrimSpace(text)
	last, _ := utf8.DecodeLastRuneInString(text)
	if strings.Count(text, `"`)%2 != 0 || !unicode.IsLetter(last) && !unicode.IsNumber(last) && last != '_' {
		return text
	}
	return text + "*"
}

// searchProblem explains why nothing could be looked for.
func (p *Reports) searchProblem(err error, session string) error {
	problem := p.problem(err, session)
	if e, ok := errors.AsType[*api.Error](problem); ok && e.Code == api.CodeStorage {
		return &api.Error{
			Status: http.StatusServiceUnavailable, Code: api.CodeStorage, Title: "search isn't available now", Detail: e.Detail,
			Hint: "try again in a moment",
		}
	}
	return problem
}

// marked takes the marks out of a snippet and says where they were, counted in
// characters.
func marked(snippet string) (text string, marks []api.Mark) {
	var b strings.Builder
	b.Grow(len(snippet))
	n, from := 0, -1
	for _, r := range snippet {
		switch {
		case r == markBegin:
			from = n
		case r == markEnd && from >= 0:
			marks = append(marks, api.Mark{From: from, To: n})
			from = -1
		case r == markEnd:
		default:
			b.WriteRune(r)
			n++
		}
	}
	return b.String(), marks
}
