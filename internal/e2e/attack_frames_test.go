//go:build linux || darwin

package e2e

import (
	"bufio"
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/wire"
)

// A rawSocket is a WebSocket whose frames are made by hand.
type rawSocket struct {
	net.Conn
	in *bufio.Reader
}

// rawUpgrade opens a WebSocket at a path with a token and some more headers, and
// returns the answer too.
func (a *assault) rawUpgrade(path, token string, more ...string) (*rawSocket, rawAnswer) {
	a.t.Helper()
	c := a.connect()
	a.t.Cleanup(func() { _ = c.Close() }) // perhaps a second time
	request := "GET " + path + " HTTP/1.1\r\nHost: " + a.address + "\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n" +
		"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nAuthorization: Bearer " + token + "\r\n" + strings.Join(more, "\r\n")
	if len(more) > 0 {
		request += "\r\n"
	}
	if _, err := io.WriteString(c, request+"\r\n"); err != nil {
		a.t.Fatal(err)
	}
	s := &rawSocket{Conn: c, in: bufio.NewReader(c)}
	got, err := readRawAnswer(s.in)
	if err != nil {
		a.t.Fatalf("upgrading %s: %v", path, err)
	}
	return s, got
}

// A rawFrame is a frame, right or wrong.
type rawFrame struct {
	first    byte // FIN, the reserved bits and the opcode
	unmasked bool
	length   int64 // what the header says; 0 for that of the payload, -1 for the largest
	payload  []byte
}

// bytes returns the frame as it is sent.
func (f rawFrame) bytes() []byte {
	masked := byte(0x80)
	if f.unmasked {
		masked = 0
	}
	length := uint64(len(f.payload))
	if f.length != 0 {
		length = uint64(f.length)
	}
	b := []byte{f.first}
	switch {
	case length < 126:
		b = append(b, masked|byte(length))
	case length < 1<<16:
		b = binary.BigEndian.AppendUint16(append(b, masked|126), uint16(length))
	default:
		b = binary.BigEndian.AppendUint64(append(b, masked|127), length)
	}
	if f.unmasked {
		return append(b, f.payload...)
	}
	key := [4]byte{1, 2, 3, 4}
	b = append(b, key[:]...)
	for i, c := range f.payload {
		b = append(b, c^key[i%4])
	}
	return b
}

// closed reads frames until the connection ends, and returns the code of the close
// frame, 0 if there was none. It fails the test if the connection does not end.
func (s *rawSocket) closed(t *testing.T, row string) int {
	t.Helper()
	code := 0
	for {
		var head [2]byte
		if _, err := io.ReadFull(s.in, head[:]); err != nil {
			if errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("%s: the connection goes on", row)
			}
			return code
		}
		length := uint64(head[1] & 0x7f)
		var wide [8]byte
		switch length {
		case 126:
			_, _ = io.ReadFull(s.in, wide[6:]) // the next read fails too
			length = binary.BigEndian.Uint64(wide[:])
		case 127:
			_, _ = io.ReadFull(s.in, wide[:])
			length = binary.BigEndian.Uint64(wide[:])
		}
		payload := make([]byte, min(length, 1<<20))
		if _, err := io.ReadFull(s.in, payload); err != nil {
			return code
		}
		if head[0]&0x0f == 8 && len(payload) >= 2 {
			code = int(binary.BigEndian.Uint16(payload))
			// As a good peer would; the connection is then closed.
			_, _ = s.Write(rawFrame{first: 0x88, payload: payload[:2]}.bytes())
		}
	}
}

// socketPaths are where WebSockets of front ends are.
func (a *assault) socketPaths() []string {
	return []string{"/ws?session=" + a.s.id, "/ws", "/v1/sessions/" + a.s.id + "/events", "/v1/events"}
}

// TestAttackFrames sends WebSocket frames that are not what they should be.
func TestAttackFrames(t *testing.T) {
	t.Parallel()
	a := newAssault(t, nil)
	evil := []byte(`{"type":"user","message":{"role":"user","content":"@say Evil."}}` + "\n")
	closing := func(code uint16, reason string) []rawFrame {
		return []rawFrame{{first: 0x88, payload: append(binary.BigEndian.AppendUint16(nil, code), reason...)}}
	}
	protocol := []int{1002, 0}
	rows := map[string]struct {
		frames []rawFrame
		want   []int // codes that it may be closed with; 0 is cut off; nil if it may go on
	}{
		"first reserved bit":        {[]rawFrame{{first: 0xc1, payload: evil}}, protocol},
		"second reserved bit":       {[]rawFrame{{first: 0xa1, payload: evil}}, protocol},
		"third reserved bit":        {[]rawFrame{{first: 0x91, payload: evil}}, protocol},
		"opcode 3":                  {[]rawFrame{{first: 0x83, payload: evil}}, protocol},
		"opcode 7":                  {[]rawFrame{{first: 0x87, payload: evil}}, protocol},
		"opcode 11":                 {[]rawFrame{{first: 0x8b, payload: evil}}, protocol},
		"opcode 15":                 {[]rawFrame{{first: 0x8f, payload: evil}}, protocol},
		"not masked":                {[]rawFrame{{first: 0x81, unmasked: true, payload: evil}}, protocol},
		"a fragmented ping":         {[]rawFrame{{first: 0x09, payload: []byte("x")}}, protocol},
		"a fragmented close":        {[]rawFrame{{first: 0x08, payload: []byte{3, 232}}}, protocol},
		"a long ping":               {[]rawFrame{{first: 0x89, payload: bytes.Repeat([]byte("x"), 126)}}, protocol},
		"a long close":              {closing(1000, strings.Repeat("x", 200)), protocol},
		"a continuation of nothing": {[]rawFrame{{first: 0x80, payload: evil}}, protocol},
		"a message within another":  {[]rawFrame{{first: 0x01, payload: []byte("{")}, {first: 0x81, payload: evil}}, protocol},
		"a negative length":         {[]rawFrame{{first: 0x81, length: -1}}, []int{1002, 1009, 0}},
		// The rest of these never comes, so that whoever sends them is one who is silent.
		"a length of 2^62":       {[]rawFrame{{first: 0x81, length: 1 << 62, payload: evil}}, nil},
		"a length of a gigabyte": {[]rawFrame{{first: 0x82, length: 1 << 30, payload: evil}}, nil},
		"a close with one byte":  {[]rawFrame{{first: 0x88, payload: []byte{3}}}, protocol},
		"a close with 0":         {closing(0, ""), protocol},
		"a close with 999":       {closing(999, ""), protocol},
		"a close with 1005":      {closing(1005, ""), protocol},
		"a close with 1006":      {closing(1006, ""), protocol},
		"a close with 1015":      {closing(1015, ""), protocol},
		"a close with 5000":      {closing(5000, ""), protocol},
		"a close with no text":   {closing(1000, "\xff\xfe"), []int{1000, 1002, 1007, 0}},
		"a close that is right":  {closing(1000, "bye"), []int{1000, 0}},
		"nothing but noise":      {[]rawFrame{{first: 0xff, unmasked: true, payload: bytes.Repeat([]byte{0xff}, 4096)}}, protocol},
	}
	for row, r := range rows {
		for _, path := range a.socketPaths() {
			s, response := a.rawUpgrade(path, a.admin())
			if response.status != http.StatusSwitchingProtocols {
				t.Fatalf("%s: status %d", path, response.status)
			}
			for _, f := range r.frames {
				if _, err := s.Write(f.bytes()); err != nil {
					break // it is refused already
				}
			}
			if r.want == nil {
				continue // they stay until the end
			}
			if code := s.closed(t, path+", "+row); !slices.Contains(r.want, code) {
				t.Errorf("%s, %s: closed with %d, want one of %v", path, row, code, r.want)
			}
			_ = s.Close() // perhaps a second time
		}
	}
	a.survived()
	// Many small fragments, and pings between them, are one line.
	s, _ := a.rawUpgrade("/ws?session="+a.s.id, a.admin())
	line := []byte(`{"type":"user","message":{"role":"user","content":"@say In pieces."}}` + "\n")
	for i := range line {
		first := byte(0x00)
		if i == 0 {
			first = 0x01
		}
		if i == len(line)-1 {
			first |= 0x80
		}
		if _, err := s.Write(slices.Concat(rawFrame{first: first, payload: line[i : i+1]}.bytes(), rawFrame{first: 0x89, payload: []byte("p")}.bytes())); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := a.s.await(a.ctx(), "a line in pieces", func(events []api.Event) bool { return hasSent(events, "In pieces.") }); err != nil {
		t.Error(err)
	}
	a.survived("In pieces.")
}

// TestAttackUTF8 sends text that is none: it is refused, or carried as the CLI
// itself takes it, and nobody falls over.
func TestAttackUTF8(t *testing.T) {
	t.Parallel()
	a := newAssault(t, nil)
	for _, text := range []string{"\xff", "\xc3\x28", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xc0\xaf", "\x80"} {
		for _, path := range a.socketPaths() {
			s, _ := a.rawUpgrade(path, a.admin())
			line := `{"type":"user","message":{"role":"user","content":"@say Odd ` + text + `."}}` + "\n"
			if _, err := s.Write(rawFrame{first: 0x81, payload: []byte(line)}.bytes()); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Write(rawFrame{first: 0x88, payload: []byte{3, 232}}.bytes()); err != nil {
				t.Fatal(err)
			}
			s.closed(t, path)
		}
	}
	a.survived("@say Odd")
	for _, line := range a.readLines() {
		if wire.Validate(line) != nil {
			t.Errorf("the agent has read what is not valid: %q", line)
		}
	}
}

// TestAttackCompression offers compression, and sends what would be much more than
// it looks.
func TestAttackCompression(t *testing.T) {
	t.Parallel()
	a := newAssault(t, nil)
	var bomb bytes.Buffer
	w, err := flate.NewWriter(&bomb, flate.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	zeros := bytes.Repeat([]byte("0"), 1<<20)
	for range 64 {
		if _, err := w.Write(zeros); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	for _, path := range a.socketPaths() {
		s, response := a.rawUpgrade(path, a.admin(), "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits")
		if response.status != http.StatusSwitchingProtocols || response.header.Get("Sec-WebSocket-Extensions") != "" {
			t.Errorf("%s: status %d with the extensions %q; want none", path, response.status, response.header.Get("Sec-WebSocket-Extensions"))
		}
		_, _ = s.Write(rawFrame{first: 0xc1, payload: bytes.TrimSuffix(bomb.Bytes(), []byte{0, 0, 0xff, 0xff})}.bytes()) // it may be refused before all is written
		if code := s.closed(t, path); code != 1002 && code != 0 {
			t.Errorf("%s: closed with %d", path, code)
		}
	}
	for _, encoding := range []string{"gzip", "deflate", "br", "zstd", "gzip, identity"} {
		for _, d := range a.doors() {
			if d.method != "POST" {
				continue
			}
			status, answer := a.askWith(d.method, d.path, header(a.admin(), "Content-Type", "application/json", "Content-Encoding", encoding), bytes.NewReader(bomb.Bytes()))
			if status < 400 || status >= 500 {
				t.Errorf("%s with a body in %s: status %d: %.200s", d.name, encoding, status, answer)
			}
		}
	}
	a.survived()
}
