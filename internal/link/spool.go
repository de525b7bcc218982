package link

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
)

// A SpoolHeader says whose lines a spool file holds.
type SpoolHeader struct {
	// Version is that of the link protocol.
	Version int `json:"version"`
	// Session, Run and Instance are the shim's, as in its hello.
	Session  string `json:"session"`
	Run      int    `json:"run"`
	Instance string `json:"instance"`
	// Oldest and Next bound the numbers in the file, as in a hello.
	Oldest int64 `json:"oldest"`
	Next   int64 `json:"next"`
	// Written, Writing and Failed are what is known of commands, as in a hello.
	Written int64    `json:"written"`
	Writing int64    `json:"writing,omitempty"`
	Failed  []Failed `json:"failed,omitempty"`
}

// SpoolName returns the name of the spool file of a run.
func SpoolName(session string, run int) string { return fmt.Sprintf("%s-%d.spool", session, run) }

// WriteSpool writes the durable records that no hub has taken: a header as one
// line of JSON, then frames, each after its length in four bytes, the lowest
// first. A frame of length 0 ends the file, so that a file that was cut off
// shows.
func WriteSpool(w io.Writer, header *SpoolHeader, records iter.Seq[Record]) error {
	out := bufio.NewWriter(w)
	_, _ = out.Write(append(mustEncode(header), '\n')) // Flush returns the first error
	var length [4]byte
	for frame := range Frames(records) {
		binary.LittleEndian.PutUint32(length[:], uint32(len(frame)))
		_, _ = out.Write(length[:])
		_, _ = out.Write(frame)
	}
	_, _ = out.Write(make([]byte, len(length)))
	if err := out.Flush(); err != nil {
		return fmt.Errorf("writing a spool file: %w", err)
	}
	return nil
}

// maxSpoolHeader bounds the first line of a spool file.
const maxSpoolHeader = MaxFrame

// ReadSpool reads what [WriteSpool] wrote. The records come in order, and their
// bytes are the caller's. A file that is cut off gives the records that are
// whole and then an error that is [io.ErrUnexpectedEOF].
func ReadSpool(r io.Reader) (*SpoolHeader, iter.Seq2[Record, error], error) {
	in := bufio.NewReaderSize(r, maxSpoolHeader)
	line, err := in.ReadSlice('\n')
	if err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, nil, fmt.Errorf("reading a spool file: its first line: %w", err)
	}
	header := &SpoolHeader{}
	if err := json.Unmarshal(line, header); err != nil {
		return nil, nil, fmt.Errorf("reading a spool file: %w: its first line: %v", ErrMalformed, err)
	}
	return header, func(yield func(Record, error) bool) {
		var d Decoder
		for {
			frame, err := readSpoolFrame(in)
			if err == nil && len(frame) == 0 {
				return
			}
			d.Push(frame)
			for err == nil {
				var record Record
				var ok bool
				if record, ok, err = d.Next(); err != nil || !ok {
					break
				}
				if !yield(record, nil) {
					return
				}
			}
			if err != nil {
				yield(Record{}, fmt.Errorf("reading a spool file: %w", err))
				return
			}
		}
	}, nil
}

func readSpoolFrame(r io.Reader) ([]byte, error) {
	var length [4]byte
	if _, err := io.ReadFull(r, length[:]); err != nil {
		return nil, io.ErrUnexpectedEOF
	}
	n := binary.LittleEndian.Uint32(length[:])
	if n > MaxFrame {
		return nil, fmt.Errorf("%w: a frame of %d bytes", ErrMalformed, n)
	}
	frame := make([]byte, n)
	if _, err := io.ReadFull(r, frame); err != nil {
		return nil, io.ErrUnexpectedEOF
	}
	return frame, nil
}
