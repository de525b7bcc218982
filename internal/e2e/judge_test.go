//go:build linux || darwin

package e2e

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/claude/claudetest"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/wire"
)

// The judge decides whether anything was lost or done twice. It is told what the
// CLI itself wrote and read, and what the journal holds, and knows nothing of
// how the one became the other.

// judge returns what is wrong with the evidence, nothing if all is well. It
// expects that everything has come to rest.
func judge(e *evidence) []string {
	var wrong []string
	complain := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	for i, entry := range e.entries {
		if entry.Seq != int64(i)+1 {
			complain("entry %d of the journal has the number %d", i+1, entry.Seq)
		}
	}
	runs := e.assign()
	for i, record := range e.records {
		run := runs[i]
		var lines []journal.Entry
		for _, entry := range e.entries {
			if entry.Run == run {
				lines = append(lines, entry)
			}
		}
		if e.dialled {
			wrong = append(wrong, judgeDialled(run, durable(record), lines)...)
		} else {
			// What a shim still has dies with it.
			wrong = append(wrong, judgeLines(run, durable(record), lines, e.shot)...)
		}
		wrong = append(wrong, e.judgeCommands(run, read(record))...)
	}
	unknown := map[int]bool{}
	for _, entry := range e.entries {
		if entry.Kind == api.KindLine && !slices.Contains(runs, entry.Run) && !unknown[entry.Run] {
			unknown[entry.Run] = true
			complain("entry %d is of run %d, of which there is no record", entry.Seq, entry.Run)
		}
	}
	return append(wrong, e.judgeQuestions(runs)...)
}

// assign returns the run of each record: that of a line that its process has
// read, since each has lines of its own. A run whose process never came to read
// anything has none, and one that has read nothing we know comes after the one
// before.
func (e *evidence) assign() []int {
	runs := make([]int, len(e.records))
	last := 0
	for i, record := range e.records {
		runs[i] = last + 1
		for _, line := range read(record) {
			at := slices.IndexFunc(e.commands, func(c journal.Command) bool { return c.Run > last && bytes.Equal(c.Line, line) })
			if at >= 0 {
				runs[i] = e.commands[at].Run
				break
			}
		}
		last = runs[i]
	}
	return runs
}

// durable returns the lines of a record that have to be in the journal.
func durable(record []claudetest.Entry) [][]byte {
	var lines [][]byte
	for _, entry := range record {
		if entry.Read {
			continue
		}
		line := []byte(entry.Line)
		if header, err := wire.Peek(line); err == nil && wire.ClassOf(header) != wire.Durable {
			continue
		}
		lines = append(lines, line)
	}
	return lines
}

// read returns the lines of a record that the CLI read. A keep_alive is the
// link's own affair.
func read(record []claudetest.Entry) [][]byte {
	var lines [][]byte
	for _, entry := range record {
		if header, err := wire.Peek([]byte(entry.Line)); !entry.Read || err == nil && string(header.Type) == "keep_alive" {
			continue
		}
		lines = append(lines, []byte(entry.Line))
	}
	return lines
}

// judgeLines holds that each line is in the journal exactly once and in order.
// Where a gap is reported, lines may be missing, and if cut is set the last ones.
func judgeLines(run int, written [][]byte, entries []journal.Entry, cut bool) []string {
	var wrong []string
	next := 0
	gap := false
	for _, entry := range entries {
		switch entry.Kind {
		case api.KindGap:
			gap = true
			continue
		case api.KindLine:
		default:
			continue
		}
		if next < len(written) && bytes.Equal(entry.Line, written[next]) {
			next++
			gap = false
			continue
		}
		at := find(written, entry.Line, next)
		switch {
		case at < 0 && find(written[:next], entry.Line, 0) >= 0:
			wrong = append(wrong, fmt.Sprintf("run %d: entry %d has a line a second time: %s", run, entry.Seq, brief(entry.Line)))
		case at < 0:
			wrong = append(wrong, fmt.Sprintf("run %d: entry %d has a line that the CLI never wrote: %s", run, entry.Seq, brief(entry.Line)))
		case gap:
			next, gap = at+1, false
		default:
			wrong = append(wrong, fmt.Sprintf("run %d: %d lines are missing before entry %d, the first is: %s", run, at-next, entry.Seq, brief(written[next])))
			next = at + 1
		}
	}
	if next < len(written) && !gap && !cut {
		wrong = append(wrong, fmt.Sprintf("run %d: the last %d of %d lines are missing, the first is: %s", run, len(written)-next, len(written), brief(written[next])))
	}
	return wrong
}

// judgeDialled holds that no line of a CLI that dialled in is in the journal
// twice or made up, and that each hole is reported. A line without a uuid leaves
// no trace when it is lost: the CLI itself counts by uuids. Of lines that are the
// same, uuid included, one is enough.
func judgeDialled(run int, written [][]byte, entries []journal.Entry) []string {
	var wrong []string
	taken := make([]int64, len(written)) // the entry that holds it
	places := make(map[string][]int, len(written))
	for i, line := range written {
		places[string(line)] = append(places[string(line)], i)
	}
	var gaps []int64
	for _, entry := range entries {
		switch entry.Kind {
		case api.KindGap:
			gaps = append(gaps, entry.Seq)
			continue
		case api.KindLine:
		default:
			continue
		}
		all := places[string(entry.Line)]
		free := slices.IndexFunc(all, func(at int) bool { return taken[at] == 0 })
		switch {
		case free >= 0:
			taken[all[free]] = entry.Seq
		case len(all) > 0:
			wrong = append(wrong, fmt.Sprintf("run %d: entry %d has a line a second time: %s", run, entry.Seq, brief(entry.Line)))
		default:
			wrong = append(wrong, fmt.Sprintf("run %d: entry %d has a line that the CLI never wrote: %s", run, entry.Seq, brief(entry.Line)))
		}
	}
	before := int64(0)
	for i, line := range written {
		if taken[i] != 0 {
			before = max(before, taken[i])
			continue
		}
		header, err := wire.Peek(line)
		if err == nil && len(header.UUID) == 0 {
			continue
		}
		if slices.ContainsFunc(places[string(line)], func(at int) bool { return taken[at] != 0 }) {
			// The CLI repeats a prompt once more for each time that it is sent. The
			// same line again, under the same uuid, cannot be told from a POST that
			// was not answered.
			continue
		}
		reported := false
		for _, gap := range gaps {
			reported = reported || gap > before
		}
		if !reported {
			wrong = append(wrong, fmt.Sprintf("run %d: line %d of %d is missing behind entry %d, and no gap is reported: %s", run, i+1, len(written), before, brief(line)))
		}
	}
	return wrong
}

// judgeCommands holds that each line to the CLI was read at most once, that the
// CLI read nothing else, and that the outbox knows which were read.
func (e *evidence) judgeCommands(run int, reads [][]byte) []string {
	var wrong []string
	times := make(map[string]int, len(reads))
	for _, line := range reads {
		times[string(line)]++
	}
	known := make(map[string]bool, len(e.commands))
	for _, command := range e.commands {
		if command.Run != run {
			continue
		}
		line := string(command.Line)
		known[line] = true
		n := times[line]
		if n > 1 && !e.dialled {
			wrong = append(wrong, fmt.Sprintf("run %d: the CLI read %s %d times: %s", run, command.ID, n, brief(command.Line)))
		}
		switch state := api.MessageState(command.State); state {
		case api.MessageWritten, api.MessagePickedUp:
			if n == 0 && (!e.dialled || state == api.MessagePickedUp) && !e.shot {
				wrong = append(wrong, fmt.Sprintf("run %d: %s is %s, and the CLI never read it: %s", run, command.ID, state, brief(command.Line)))
			}
		case api.MessageQueued, api.MessageTakenBack, api.MessageNotDelivered:
			if n > 0 {
				wrong = append(wrong, fmt.Sprintf("run %d: %s is %s, and the CLI read it: %s", run, command.ID, state, brief(command.Line)))
			}
		case api.MessageUnknown:
			if !e.shot && !e.dialled {
				wrong = append(wrong, fmt.Sprintf("run %d: the fate of %s is unknown, though neither shim nor CLI was killed: %s", run, command.ID, brief(command.Line)))
			}
		case api.MessageSent:
			wrong = append(wrong, fmt.Sprintf("run %d: %s is still on its way when everything is over (the CLI read it %d times): %s", run, command.ID, n, brief(command.Line)))
		default:
			wrong = append(wrong, fmt.Sprintf("run %d: %s is in the unknown state %q", run, command.ID, command.State))
		}
	}
	if !e.dialled {
		wrong = append(wrong, e.judgeOrder(run, reads)...)
	}
	for _, line := range reads {
		if !known[string(line)] && !e.restored {
			known[string(line)] = true // once is enough
			wrong = append(wrong, fmt.Sprintf("run %d: the CLI read a line that is not in the outbox: %s", run, brief(line)))
		}
	}
	return wrong
}

// judgeOrder holds that lines were read in the order of their numbers.
func (e *evidence) judgeOrder(run int, reads [][]byte) []string {
	var wrong []string
	byNumber := slices.SortedFunc(slices.Values(e.commands), func(a, b journal.Command) int { return cmp.Compare(a.Number, b.Number) })
	last := -1
	for _, command := range byNumber {
		at := find(reads, command.Line, 0)
		if command.Run != run || command.Number == 0 || at < 0 {
			continue
		}
		if at < last {
			wrong = append(wrong, fmt.Sprintf("run %d: the CLI read %s, which is number %d, before one with a lower number", run, command.ID, command.Number))
		}
		last = max(last, at)
	}
	return wrong
}

// judgeQuestions holds that the open questions are those that the CLI waits
// for: asked by its last process, and neither answered nor withdrawn.
func (e *evidence) judgeQuestions(runs []int) []string {
	if len(e.records) == 0 {
		return nil
	}
	var wrong []string
	run := runs[len(runs)-1]
	waiting := map[string]bool{}
	for _, entry := range e.records[len(runs)-1] {
		line := []byte(entry.Line)
		header, err := wire.Peek(line)
		if err != nil {
			continue
		}
		id := string(header.RequestID)
		switch {
		case !entry.Read && string(header.Type) == "control_request" && asks(string(header.RequestSubtype)):
			waiting[id] = true
		case !entry.Read && string(header.Type) == "control_cancel_request":
			delete(waiting, id)
		case entry.Read && string(header.Type) == "control_response":
			delete(waiting, answered(line))
		}
	}
	seen := map[string]bool{}
	for _, question := range e.questions {
		if question.Run != run {
			if question.State == string(api.QuestionOpen) {
				wrong = append(wrong, fmt.Sprintf("question %s of the run %d, which is over, is open", question.ID, question.Run))
			}
			continue
		}
		if seen[question.RequestID] {
			wrong = append(wrong, fmt.Sprintf("the request %s was opened as two questions", question.RequestID))
		}
		seen[question.RequestID] = true
		open := question.State == string(api.QuestionOpen)
		if open && !waiting[question.RequestID] && !e.shot {
			wrong = append(wrong, fmt.Sprintf("question %s is open, and the CLI does not wait for it", question.ID))
		}
		if !open && waiting[question.RequestID] && !e.shot {
			wrong = append(wrong, fmt.Sprintf("question %s is %s, and the CLI waits for it", question.ID, question.State))
		}
	}
	for id := range waiting {
		if !seen[id] && !e.shot {
			wrong = append(wrong, fmt.Sprintf("the CLI waits for an answer to %s, which is no question", id))
		}
	}
	return wrong
}

// asks says whether a request of the CLI is a question to people.
func asks(subtype string) bool { return subtype == "can_use_tool" || subtype == "elicitation" }

// answered returns the request that a line answers.
func answered(line []byte) string {
	var response struct {
		Response struct {
			RequestID string `json:"request_id"`
		} `json:"response"`
	}
	if json.Unmarshal(line, &response) != nil {
		return ""
	}
	return response.Response.RequestID
}

// find returns the first place of a line from a place on, -1 if there is none.
func find(lines [][]byte, line []byte, from int) int {
	for i := from; i < len(lines); i++ {
		if bytes.Equal(lines[i], line) {
			return i
		}
	}
	return -1
}

// brief is the beginning of a line.
func brief(line []byte) string {
	const enough = 200
	if len(line) <= enough {
		return string(line)
	}
	return fmt.Sprintf("%s… (%d bytes)", line[:enough], len(line))
}
