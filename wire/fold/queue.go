package fold

import "slices"

// A Queue holds the prompts that were written to the CLI and that it has not
// picked up yet.
//
// There is no one sign of that on all versions. 2.1.325 tells the fate of every
// prompt that carries a uuid. With --replay-user-messages the CLI repeats a
// prompt when it picks it up, except for slash commands up to 2.1.120. And each
// turn begins with an init line, which takes the oldest one where nothing better
// is known. Without any of these a result takes all: a prompt that still waits
// then makes itself known by the next turn.
type Queue struct {
	// Waiting holds the prompts, the oldest first.
	Waiting []Prompt `json:"waiting,omitempty"`
	// Taken holds the uuids of the last prompts that were picked up or dropped.
	Taken []string `json:"taken,omitempty"`
	// Dropped counts prompts that were forgotten because too many were waiting.
	Dropped int64 `json:"dropped,omitempty"`
	// Echoes says that the CLI repeats prompts, Fates that it tells their fate.
	Echoes bool `json:"echoes,omitempty"`
	Fates  bool `json:"fates,omitempty"`
	// Begun says that the current turn has had its init line.
	Begun bool `json:"begun,omitempty"`
}

// A Prompt is a user message that was written to the CLI.
type Prompt struct {
	// UUID is the message's; it may be empty.
	UUID string `json:"uuid,omitempty"`
	// Seq is its line.
	Seq int64 `json:"seq,omitempty"`
	// Passed says that a turn has ended since it was written.
	Passed bool `json:"passed,omitempty"`
}

// How much Queue keeps.
const (
	maxPrompts = 256
	maxTaken   = 200
)

// put adds a prompt. One that was picked up before is written again only to be
// sure: the CLI swallows it.
func (q *Queue) put(uuid string, seq int64) {
	if uuid != "" && (slices.Contains(q.Taken, uuid) ||
		slices.ContainsFunc(q.Waiting, func(p Prompt) bool { return p.UUID == uuid })) {
		return
	}
	var dropped int64
	q.Waiting, dropped = last(append(q.Waiting, Prompt{UUID: uuid, Seq: seq}), maxPrompts)
	q.Dropped += dropped
}

// take removes a prompt by its uuid. It reports whether it was waiting.
func (q *Queue) take(uuid string) bool {
	i := slices.IndexFunc(q.Waiting, func(p Prompt) bool { return p.UUID == uuid })
	if i < 0 || uuid == "" {
		return false
	}
	q.remove(i)
	return true
}

// echo folds the repetition of a prompt. It reports whether the prompt was
// waiting.
func (q *Queue) echo(uuid string) bool {
	taken := q.take(uuid)
	if taken || slices.Contains(q.Taken, uuid) {
		q.Echoes = true
	}
	return taken
}

// remove removes the i-th prompt.
func (q *Queue) remove(i int) {
	if uuid := q.Waiting[i].UUID; uuid != "" {
		q.Taken, _ = last(append(q.Taken, uuid), maxTaken)
	}
	q.Waiting = slices.Delete(q.Waiting, i, i+1)
}

// takeOldest removes the oldest prompt, unless its fate will be told.
func (q *Queue) takeOldest() {
	if len(q.Waiting) > 0 && (!q.Fates || q.Waiting[0].UUID == "") {
		q.remove(0)
	}
}

// begin folds the beginning of a turn.
func (q *Queue) begin() {
	q.Begun = true
	q.takeOldest()
}

// end folds the end of a turn.
func (q *Queue) end() {
	if !q.Begun {
		q.takeOldest()
	}
	q.Begun = false
	if !q.Echoes && !q.Fates {
		for len(q.Waiting) > 0 {
			q.remove(0)
		}
	}
	for i := range q.Waiting {
		q.Waiting[i].Passed = true
	}
}

// idle folds the CLI's word that it has nothing to do: what was waiting when the
// last turn ended is not waiting any more.
func (q *Queue) idle() {
	for i := 0; i < len(q.Waiting); {
		if !q.Waiting[i].Passed {
			i++
			continue
		}
		q.remove(i)
	}
}
