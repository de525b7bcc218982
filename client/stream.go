package client

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/switchboard-dev/switchboard/api"
)

// maxFrame bounds what one frame may need. The longest line of a CLI is 256 MiB,
// a third more if it is no text.
const maxFrame = 384 << 20

var errFrame = errors.New("the server sent a frame that is too long")

// A frameReader reads frames from a stream of server-sent events.
type frameReader struct {
	in *bufio.Reader
	// heard is called whenever something has come, comments included.
	heard func()
	data  []byte // of the frame that is being read
	id    string // of the last frame; empty if it had none
}

func newFrameReader(in io.Reader, heard func()) *frameReader {
	return &frameReader{in: bufio.NewReaderSize(in, 32<<10), heard: heard}
}

// next returns the next frame. A stream that ends within one ends with
// [io.ErrUnexpectedEOF].
func (r *frameReader) next() (api.Frame, error) {
	var name string
	var any bool
	r.data, r.id = r.data[:0], ""
	for {
		line, err := r.line()
		switch {
		case errors.Is(err, io.EOF) && (any || len(line) > 0):
			return api.Frame{}, io.ErrUnexpectedEOF
		case err != nil:
			return api.Frame{}, err
		case len(line) == 0:
			if !any {
				continue
			}
			return decodeFrame(name, r.data)
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "event":
			name, any = string(value), true
		case "data":
			if len(r.data)+len(value) > maxFrame {
				return api.Frame{}, errFrame
			}
			if len(r.data) > 0 {
				r.data = append(r.data, '\n')
			}
			r.data, any = append(r.data, value...), true
		case "id":
			r.id = string(value)
		}
		// Others, and comments, mean nothing to us.
	}
}

// line returns the next line without its end. It is valid until the next call.
func (r *frameReader) line() ([]byte, error) {
	var long []byte
	for {
		part, err := r.in.ReadSlice('\n')
		if len(part) > 0 {
			r.heard()
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			if len(long)+len(part) > maxFrame {
				return nil, errFrame
			}
			long = append(long, part...)
			continue
		case long != nil:
			part = append(long, part...)
		}
		if err != nil {
			return part, err
		}
		return bytes.TrimSuffix(part[:len(part)-1], []byte("\r")), nil
	}
}

// decodeFrame makes a frame of its name and data. What it holds is not shared
// with data.
func decodeFrame(name string, data []byte) (api.Frame, error) {
	f := api.Frame{Type: api.FrameType(name)}
	var err error
	switch f.Type {
	case api.FrameEvent, api.FrameLive:
		f.Event = new(api.Event)
		err = json.Unmarshal(data, f.Event)
	case api.FrameResume:
		f.Resume = new(api.Verdict)
		err = json.Unmarshal(data, f.Resume)
	case api.FramePartial:
		f.Partial = new(api.Partials)
		err = json.Unmarshal(data, f.Partial)
	case api.FrameClosing:
		var c api.Closing
		err = json.Unmarshal(data, &c)
		f.Reason = c.Reason
	default:
		// A newer server's. The type says that there was something.
	}
	if err != nil {
		return api.Frame{}, fmt.Errorf("reading a frame of type %q: %w", name, err)
	}
	return f, nil
}
