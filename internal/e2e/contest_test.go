//go:build linux || darwin

package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
)

// TestContest has two clients answer each of 300 questions, 1 000 in a soak, at the
// same moment, differently: exactly one wins, and both are told which. A client that repeats a request
// with its id learns the same again.
func TestContest(t *testing.T) {
	t.Parallel()
	const sessions = 5
	each := 60
	if soak() {
		each = 200
	}
	l := newLab(t, nil)
	l.start()
	local, err := client.New(&client.Options{Socket: l.socket()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(local.Close)
	clients := [2]*client.Client{l.client(), local}
	var contests sync.WaitGroup
	all := make([]*session, sessions)
	wins := make([][2]int, sessions)
	for n := range sessions {
		s := l.mustCreate(nil)
		all[n] = s
		contests.Go(func() {
			var err error
			if wins[n], err = s.contest(l.t.Context(), clients, each); err != nil {
				t.Errorf("session %s: %v", s.id, err)
			}
		})
	}
	contests.Wait()
	var total [2]int
	for _, w := range wins {
		total[0] += w[0]
		total[1] += w[1]
	}
	t.Logf("the first client has won %d times, the second %d times", total[0], total[1])
	if total[0]+total[1] != sessions*each {
		t.Errorf("%d answers have won; want %d", total[0]+total[1], sessions*each)
	}
	if t.Failed() {
		return
	}
	l.verdict(all...)
}

// contest has two clients answer the questions of one turn, which are all open at
// once, and returns how often each has won.
func (s *session) contest(ctx context.Context, clients [2]*client.Client, questions int) ([2]int, error) {
	var wins [2]int
	message, err := s.send(ctx, "prompt", strings.Repeat(fetching+"\n@result done\n", questions)+"@say Over.")
	if err != nil {
		return wins, err
	}
	answers := [2]api.Answer{{ClientID: "a", Decision: "allow"}, {ClientID: "b", Decision: "deny", Message: "The other one."}}
	for n := range questions {
		q, err := s.awaitQuestion(ctx, 0, n+1)
		if err != nil {
			return wins, err
		}
		var settled [2]*api.Question
		var errs [2]error
		both := func() {
			begin := make(chan struct{})
			var done sync.WaitGroup
			for i := range clients {
				done.Go(func() {
					<-begin
					settled[i], errs[i] = clients[i].Answer(ctx, q.ID, answers[i])
				})
			}
			close(begin)
			done.Wait()
		}
		both()
		winner := 0
		if errs[0] != nil {
			winner = 1
		}
		wins[winner]++
		if err := judgeContest(winner, answers, settled, errs); err != nil {
			return wins, fmt.Errorf("question %d: %w", n+1, err)
		}
		if n%10 != 0 {
			continue
		}
		both() // with the same ids
		if err := judgeContest(winner, answers, settled, errs); err != nil {
			return wins, fmt.Errorf("question %d, repeated: %w", n+1, err)
		}
		other := answers[winner]
		other.Message += "Another."
		other.Decision = "deny"
		if _, err := clients[winner].Answer(ctx, q.ID, other); problemOf(err) == nil || problemOf(err).Code != api.CodeClientIDReused {
			return wins, fmt.Errorf("question %d: another answer with the same id: %w", n+1, err)
		}
	}
	return wins, s.awaitTurn(ctx, 0, message)
}

// judgeContest holds that the winner's answer counts, and that the other one is
// told so.
func judgeContest(winner int, answers [2]api.Answer, settled [2]*api.Question, errs [2]error) error {
	loser := 1 - winner
	if errs[winner] != nil {
		return fmt.Errorf("nobody has won: %w", errors.Join(errs[0], errs[1]))
	}
	problem := problemOf(errs[loser])
	if problem == nil || problem.Status != http.StatusConflict || problem.Code != api.CodeAlreadySettled || problem.Question == nil {
		return fmt.Errorf("the loser is told %w and %+v", errs[loser], settled[loser])
	}
	for _, told := range []*api.Question{settled[winner], problem.Question} {
		if told.State != api.QuestionAnswered || (told.By == "admin") != (winner == 0) || told.By == "" || told.Answer == nil || told.Answer.Decision != answers[winner].Decision || told.Answer.Message != answers[winner].Message {
			return fmt.Errorf("told %s by %q with %+v; want %+v", told.State, told.By, told.Answer, answers[winner])
		}
	}
	return nil
}
