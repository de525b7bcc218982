package ingress

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/link"
)

// ImportSpool gives the hub what a shim wrote to a file because it had no hub for
// too long, and removes the file. It goes the way of a link, without one: lines
// that are in the journal already are not taken twice. A file that is cut off is
// taken as far as it goes, what is missing is noted as a gap, and the file is set
// aside under a name with ".damaged" at the end. After any other error the file
// is still there.
func ImportSpool(ctx context.Context, h *hub.Hub, file string) error {
	f, err := os.Open(file)
	if err != nil {
		return fmt.Errorf("taking in what a shim has written: %w", err)
	}
	damaged, err := ReadSpool(ctx, h, "", f)
	_ = f.Close() // it was only read
	switch {
	case err != nil:
		return fmt.Errorf("taking in %s: %w", file, err)
	case damaged:
		err = os.Rename(file, file+".damaged")
	default:
		err = os.Remove(file)
	}
	if err != nil {
		return fmt.Errorf("putting away what a shim has written, which is taken in: %w", err)
	}
	return nil
}

// ReadSpool gives the hub all of a file of a node's shim, "" for the hub's own machine,
// and reports whether it ended too soon. The hub refuses lines of runs that are elsewhere.
func ReadSpool(ctx context.Context, h *hub.Hub, node string, r io.Reader) (damaged bool, err error) {
	source := &spoolSource{r: r}
	header, records, err := link.ReadSpool(source)
	if err != nil {
		return false, err
	}
	hello := hub.Hello{Node: node, Hello: link.Hello{
		Version: header.Version, Session: header.Session, Run: header.Run, Instance: header.Instance, Next: header.Next, Oldest: header.Oldest,
		Written: header.Written, Writing: header.Writing, Failed: header.Failed,
	}}
	l, welcome, err := h.AttachSpool(ctx, hello, noSender{})
	if err != nil {
		return false, err
	}
	defer func() { l.Lost(err) }()
	incoming := link.NewIncoming(max(welcome.Have, header.Oldest-1))
	var items []hub.Item
	bytes := 0
	give := func() error {
		if len(items) == 0 {
			return nil
		}
		err := l.Receive(ctx, items)
		items, bytes = nil, 0
		return err
	}
	for record, err := range records {
		if err != nil {
			damaged = true
			break
		}
		if !incoming.Accept(&record).Fresh {
			continue
		}
		record.Bytes = slices.Clone(record.Bytes) // they are part of a frame, whose memory is used again
		items = append(items, hub.Item{Record: record})
		if bytes += len(record.Bytes); len(items) == intakeItems || bytes >= intakeBytes {
			if err := give(); err != nil {
				return false, err
			}
		}
	}
	if source.err != nil {
		// The file may well be whole: it is read again.
		return false, errors.Join(source.err, give())
	}
	if have := incoming.Have(); damaged && have < header.Next-1 {
		items = append(items, hub.Item{Gap: &api.Gap{
			Certain: true, From: have + 1, To: header.Next - 1, Reason: "the file in which the shim kept these lines is damaged",
		}})
	}
	return damaged, give()
}

// A spoolSource notes that a file could not be read to its end, which is another thing
// than that it ends too soon.
type spoolSource struct {
	r   io.Reader
	err error
}

// Read implements [io.Reader].
func (s *spoolSource) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}

// noSender is the sender of a link that has no other end.
type noSender struct{}

var _ hub.LinkSender = noSender{}

func (noSender) Send([]link.Order)          {}
func (noSender) Stop(time.Duration, string) {}
func (noSender) CloseInput()                {}
func (noSender) Ack(int64)                  {}
func (noSender) Close(string)               {}
