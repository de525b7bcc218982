// Package history is what the simulated CLI keeps on disk: transcripts, titles, costs, plan files, and a record of which files its tools claim
// to have edited.
//
// A [Store] belongs to one process in one working folder and lays everything where the real CLI of its version does, in the same form, so that
// readers of transcripts can be tested with it, and so that the simulated CLI can resume a session of a real one and the other way round.
//
// # From start to end
//
//	store, err := history.Open(history.Options{Version: version, Env: getenv, Dir: dir, Persist: true})
//	id, err := store.Find(ref)              // --resume; store.Latest() for --continue
//	conv, err := store.Load(id)
//	err = conv.Cut(uuid)                    // --resume-session-at
//	conv, err = store.Fork(conv, newID)     // --fork-session; else:
//	err = store.Continue(conv)
//	err = store.Queue(id, history.Enqueue, uuid, text)
//	err = store.Queue(id, history.Dequeue, uuid, "")
//	err = store.Append(history.Entry{Session: id, Type: history.User, UUID: uuid, Message: message, PermissionMode: "default"})
//	err = store.Finish(id, costs)           // clean exit
//
// A new session needs none of the first five: it begins with its first line.
//
// # Generations
//
// Three forms of a transcript are known, those of 2.1.37, 2.1.120 and 2.1.325. A version in between has the form of the one before it.
//
// # What differs from the real CLI
//
//   - A line is on disk when the call that writes it returns; the real CLI collects lines for a moment and loses them when it is killed.
//   - Lines that only repeat what the CLI sent to the model (api-request and its relatives, attachments with prompts and listings), progress
//     lines, tools-used, mode and atis-latch are left out. Readers must skip lines that they do not know in any case.
//   - Members that tell how an answer was made (effort, requestRef, permissionDecision and the like) are left out.
//   - Files are never copied to file-history, as the simulated tools never edit one; what they claim to have changed stands in a file of our
//     own there, edits.jsonl.
//   - gitBranch is always "HEAD", as it is outside of a repository.
//   - All files are readable by their owner only.
package history
