//go:build linux

package e2e

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/internal/conformance"
	_ "github.com/switchboard-dev/switchboard/internal/journal" // brings the driver of SQLite along
)

// A relay is a process that is measured.
type relay struct {
	name    string
	address string
	token   string
	cmd     *exec.Cmd
	stop    func()
}

func (r *relay) pid() int { return r.cmd.Process.Pid }

// releaseProgram builds the program as it is released: without the places to
// stop at. FANOUT_PROGRAM names one that is there, to compare two versions.
func releaseProgram(b *testing.B) string {
	b.Helper()
	if path := os.Getenv("FANOUT_PROGRAM"); path != "" {
		return path
	}
	path := filepath.Join(b.TempDir(), "switchboard")
	cmd := exec.Command("go", "build", "-o", path, "../../cmd/switchboard")
	if output, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("building the program: %v\n%s", err, output)
	}
	return path
}

// startHub starts ours with a folder of its own.
func startHub(b *testing.B, program string) *relay {
	b.Helper()
	l := newLab(b, &labOptions{agent: program, config: manyConnections})
	args, err := l.serveArgs()
	if err != nil {
		b.Fatal(err)
	}
	r := &relay{name: "switchboard", address: l.address}
	r.cmd = exec.Command(program, args...)
	r.cmd.Env, r.cmd.Dir = l.environment(), l.root
	r.start(b, "socket ")
	token, err := l.token()
	if err != nil {
		b.Fatal(err)
	}
	r.token = token
	return r
}

// startPipe starts the dumb pipe on Bun.
func startPipe(b *testing.B, way string) *relay {
	b.Helper()
	bun, err := conformance.Bun()
	if err != nil {
		b.Fatal(err)
	}
	script, err := filepath.Abs(filepath.Join("testdata", "pipe.ts"))
	if err != nil {
		b.Fatal(err)
	}
	home := b.TempDir()
	r := &relay{name: "bun"}
	r.cmd = exec.Command(bun, script, "0", way)
	r.cmd.Env, r.cmd.Dir = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "DO_NOT_TRACK=1", suiteEnv + "=" + suite.id}, home
	r.address = "127.0.0.1:" + r.start(b, "listening on ")
	return r
}

// startBlast starts the loopback limit: the test binary in another role.
func startBlast(b *testing.B) *relay {
	b.Helper()
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	r := &relay{name: "loopback"}
	r.cmd = exec.Command(self)
	r.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), roleEnv + "=" + roleBlast, suiteEnv + "=" + suite.id}
	r.address = "127.0.0.1:" + r.start(b, "listening on ")
	return r
}

// start starts the process, waits for a line that begins with a word, and
// returns the rest of it. It is killed when the benchmark ends, or by stop.
func (r *relay) start(b *testing.B, word string) string {
	b.Helper()
	output, err := r.cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	var stderr bytes.Buffer
	r.cmd.Stderr = &stderr
	if err := r.cmd.Start(); err != nil {
		b.Fatal(err)
	}
	r.stop = sync.OnceFunc(func() {
		_ = r.cmd.Process.Kill() // it may have ended
		_ = r.cmd.Wait()         // it was killed
	})
	b.Cleanup(r.stop)
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		if rest, found := strings.CutPrefix(lines.Text(), word); found {
			go func() { _, _ = io.Copy(io.Discard, output) }() // ends with the process
			return rest
		}
	}
	r.stop()
	b.Fatalf("%s ended instead of listening: %.2000s", r.name, &stderr)
	return ""
}

// roleBlast is a relay that does no more than it must: the loopback limit.
const roleBlast = "blast"

// runBlast is the test binary as that relay. It takes the masks off what comes
// from a CLI, as much as there is, and writes that to every front end with one
// call each. It looks at nothing and keeps nothing.
func runBlast() error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		return err
	}
	fmt.Println("listening on " + port)
	var mu sync.Mutex
	var ends []net.Conn
	for {
		conn, err := listener.Accept()
		if err != nil {
			return err
		}
		r := bufio.NewReaderSize(conn, 256<<10)
		path := ""
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				return err
			}
			if after, found := strings.CutPrefix(line, "GET "); found {
				path, _, _ = strings.Cut(after, " ")
			}
			if line == "\r\n" {
				break
			}
		}
		hello := "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"
		first := `{"type":"status","text":"claude code is connected"}`
		if path == "/" {
			first = `{"type":"control_request","request_id":"1"}`
		}
		// A front end that has been told that it is one is there already: the lock is
		// held until then.
		mu.Lock()
		_, err = conn.Write(append([]byte(hello+"\x81"+string(rune(len(first)))), first...))
		if path != "/" {
			ends = append(ends, conn)
		}
		mu.Unlock()
		if err != nil {
			return err
		}
		if path != "/" {
			continue
		}
		go func() { // ends with the CLI, or the process
			blast(r, func(frames []byte) {
				mu.Lock()
				defer mu.Unlock()
				for i := 0; i < len(ends); i++ {
					if _, err := ends[i].Write(frames); err != nil {
						_ = ends[i].Close() // it has gone
						ends = append(ends[:i], ends[i+1:]...)
						i--
					}
				}
			})
		}()
	}
}

// blast reads frames of a client and gives them to write without their masks, as
// many as there are.
func blast(r *bufio.Reader, write func(frames []byte)) {
	var out []byte
	for {
		header, err := r.Peek(8)
		if err != nil {
			return
		}
		size, length, key := int(header[1]&0x7f), 6, header[2:6]
		if size == 126 {
			size, length, key = int(header[2])<<8|int(header[3]), 8, header[4:8]
		}
		mask := [4]byte(key)
		frame, err := r.Peek(length + size)
		if err != nil {
			return
		}
		out = append(out, header[0])
		if length == 8 {
			out = append(out, 126, header[2], header[3])
		} else {
			out = append(out, byte(size))
		}
		for i, c := range frame[length:] {
			out = append(out, c^mask[i%4])
		}
		if _, err := r.Discard(length + size); err != nil {
			return
		}
		if r.Buffered() == 0 || len(out) > 128<<10 {
			write(out)
			out = out[:0]
		}
	}
}

// A generator is the load process.
type generator struct {
	b       *testing.B
	orders  *json.Encoder
	results *json.Decoder
}

// startGenerator starts it.
func startGenerator(b *testing.B) *generator {
	b.Helper()
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), roleEnv + "=" + roleFanout, suiteEnv + "=" + suite.id}
	input, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	output, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = input.Close() // that ends it
		if err := cmd.Wait(); err != nil {
			b.Errorf("the load process: %v: %.2000s", err, &stderr)
		}
	})
	return &generator{b: b, orders: json.NewEncoder(input), results: json.NewDecoder(output)}
}

// do has an order carried out against a relay.
func (g *generator) do(r *relay, order fanoutOrder) fanoutResult {
	g.b.Helper()
	order.Address, order.Token, order.PID = r.address, r.token, r.pid()
	var result fanoutResult
	if err := errors.Join(g.orders.Encode(order), g.results.Decode(&result)); err != nil {
		g.b.Fatal(err)
	}
	if result.Error != "" {
		g.b.Fatalf("%s, %d front ends, %s lines: %s", r.name, order.FrontEnds, order.Kind, result.Error)
	}
	return result
}

// bareGroup is how many lines go into one transaction of what the journal is compared
// with: about what the hub's own have when lines come as fast as they can.
const bareGroup = 64

// bareAppend appends lines to SQLite without a hub: to a table as the journal's is,
// with an id and one entry for each number of a session, as durably, through
// database/sql. It returns how many go in per second.
func bareAppend(b *testing.B, limit time.Duration) (perSecond float64) {
	b.Helper()
	ctx := b.Context()
	conn := bareDatabase(b, `CREATE TABLE entries (id INTEGER PRIMARY KEY, session TEXT NOT NULL, seq INTEGER NOT NULL, run INTEGER NOT NULL,
		time INTEGER NOT NULL, source TEXT NOT NULL, kind TEXT NOT NULL, uuid TEXT, line BLOB, UNIQUE (session, seq))`)
	insert, err := conn.PrepareContext(ctx, "INSERT INTO entries (session, seq, run, time, source, kind, uuid, line) VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = insert.Close() }() // it is thrown away
	line := bareLine()
	n := 0
	from := time.Now()
	for time.Since(from) < limit {
		tx, err := conn.BeginTx(ctx, nil)
		if err != nil {
			b.Fatal(err)
		}
		here := tx.StmtContext(ctx, insert) //nolint:sqlclosecheck // closed with the transaction
		for range bareGroup {
			n++
			if _, err := here.ExecContext(ctx, "s2345678901234567890a", n, 1, from.UnixMicro(), "agent", "line", fmt.Sprintf(uuidForm, n), line); err != nil {
				b.Fatal(err)
			}
		}
		if err := tx.Commit(); err != nil {
			b.Fatal(err)
		}
	}
	return float64(n) / time.Since(from).Seconds()
}

// bareLine is what is appended.
func bareLine() []byte {
	return bytes.Repeat([]byte("What an agent writes is mostly words. "), 40)[:fanoutBytes-1]
}

// bareDatabase opens a database that has nothing but a table. It is thrown away.
func bareDatabase(b *testing.B, table string) *sql.Conn {
	b.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(b.TempDir(), "bare.db"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	conn, err := db.Conn(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = conn.Close() })
	for _, text := range []string{"PRAGMA journal_mode = WAL", "PRAGMA synchronous = NORMAL", table} {
		if _, err := conn.ExecContext(b.Context(), text); err != nil {
			b.Fatal(err)
		}
	}
	return conn
}

// bareFloor appends lines as fast as the driver can at all: to a table of nothing but
// them, twice as many at once, without database/sql.
func bareFloor(b *testing.B, limit time.Duration) (perSecond float64) {
	b.Helper()
	conn := bareDatabase(b, "CREATE TABLE lines (n INTEGER PRIMARY KEY, line BLOB)")
	line := bareLine()
	err := conn.Raw(func(raw any) error {
		prepare := func(text string) (driver.StmtExecContext, error) {
			of, ok := raw.(driver.Conn)
			if !ok {
				return nil, errors.New("the driver has no connections")
			}
			stmt, err := of.Prepare(text)
			if err != nil {
				return nil, err
			}
			execer, ok := stmt.(driver.StmtExecContext)
			if !ok {
				return nil, errors.New("the driver's statements take no contexts")
			}
			return execer, nil
		}
		begin, err1 := prepare("BEGIN IMMEDIATE")
		insert, err2 := prepare("INSERT INTO lines (n, line) VALUES (?, ?)")
		commit, err3 := prepare("COMMIT")
		if err := errors.Join(err1, err2, err3); err != nil {
			return err
		}
		n := int64(0)
		from := time.Now()
		for time.Since(from) < limit {
			if _, err := begin.ExecContext(context.Background(), nil); err != nil {
				return err
			}
			for range 2 * bareGroup {
				n++
				if _, err := insert.ExecContext(context.Background(), []driver.NamedValue{{Ordinal: 1, Value: n}, {Ordinal: 2, Value: line}}); err != nil {
					return err
				}
			}
			if _, err := commit.ExecContext(context.Background(), nil); err != nil {
				return err
			}
		}
		perSecond = float64(n) / time.Since(from).Seconds()
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	return perSecond
}
