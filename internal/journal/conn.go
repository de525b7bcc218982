package journal

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net/url"
	"time"

	"modernc.org/sqlite"
)

// A conn is one connection to an SQLite file with its prepared statements. It
// uses the driver without database/sql, whose pool and conversions cost more
// than half as much again as a small statement does. It is not safe for
// concurrent use.
type conn struct {
	raw   driver.Conn
	stmts map[string]statement
	row   []driver.Value // reused by query, which does not nest
}

// A statement is what the driver's statements can do.
type statement interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// A setting is a PRAGMA with its value.
type setting struct{ name, value string }

// connect opens a file, which must exist, and applies the settings in their
// order.
func connect(ctx context.Context, path, vfs string, settings ...setting) (*conn, error) {
	c, err := dial(ctx, path, vfs, url.Values{"mode": {"rw"}})
	if err != nil {
		return nil, err
	}
	for _, s := range append([]setting{{"busy_timeout", "5000"}}, settings...) {
		if err := c.script(ctx, "PRAGMA "+s.name+" = "+s.value); err != nil {
			return nil, errors.Join(fmt.Errorf("setting %s of %s: %w", s.name, path, err), c.close())
		}
	}
	return c, nil
}

// connectReadOnly opens a file to look at it, and changes nothing, not even the
// index of its write-ahead log. alone says that there is no such log.
func connectReadOnly(ctx context.Context, path, vfs string, alone bool) (*conn, error) {
	query := url.Values{"mode": {"ro"}}
	if alone {
		// Without this, reading would need files beside it, which only a writer may make.
		query.Set("immutable", "1")
	} else {
		// The index is made in memory if no process has the file open: the one on
		// disk may tell what the log has lost.
		query.Set("readonly_shm", "1")
	}
	return dial(ctx, path, vfs, query)
}

// dial opens a file, with parameters of SQLite's.
func dial(ctx context.Context, path, vfs string, query url.Values) (*conn, error) {
	if vfs != "" {
		query.Set("vfs", vfs)
	}
	name := url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: query.Encode()}
	connector, err := sqlite.NewConnector(name.String())
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", path, err)
	}
	raw, err := connector.Connect(ctx)
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", path, err)
	}
	return &conn{raw: raw, stmts: map[string]statement{}}, nil
}

// close finalizes the statements and closes the connection.
func (c *conn) close() error {
	var errs []error
	for _, s := range c.stmts {
		errs = append(errs, s.Close())
	}
	return errors.Join(append(errs, c.raw.Close())...)
}

// script runs SQL text of any number of statements, without keeping it prepared.
func (c *conn) script(ctx context.Context, text string) error {
	execer, ok := c.raw.(driver.ExecerContext)
	if !ok {
		return errors.New("the SQLite driver cannot run scripts")
	}
	_, err := execer.ExecContext(ctx, text, nil)
	return err
}

// prepared returns the statement for an SQL text.
func (c *conn) prepared(text string) (statement, error) {
	if s, ok := c.stmts[text]; ok {
		return s, nil
	}
	raw, err := c.raw.Prepare(text)
	if err != nil {
		return nil, err
	}
	s, ok := raw.(statement)
	if !ok {
		return nil, errors.Join(errors.New("the SQLite driver's statements take no contexts"), raw.Close())
	}
	c.stmts[text] = s
	return s, nil
}

// exec runs a prepared statement without rows.
func (c *conn) exec(text string, args ...any) error {
	return c.execArgs(text, named(args))
}

// execArgs is exec for arguments that are prepared already.
func (c *conn) execArgs(text string, args []driver.NamedValue) error {
	s, err := c.prepared(text)
	if err != nil {
		return err
	}
	_, err = s.ExecContext(context.Background(), args)
	return err
}

// errStop, returned by a row function, ends a query without an error.
var errStop = errors.New("enough rows")

// query runs a prepared statement and gives every row to the function. The
// row is valid until the function returns; blobs in it may be kept. A context
// that ends interrupts the search for the first row and is looked at between rows.
func (c *conn) query(ctx context.Context, each func(row) error, text string, args ...any) (err error) {
	s, err := c.prepared(text)
	if err != nil {
		return err
	}
	rows, err := s.QueryContext(ctx, named(args))
	if err != nil {
		return err
	}
	defer func() {
		if closing := rows.Close(); err == nil {
			err = closing
		}
	}()
	n := len(rows.Columns())
	if cap(c.row) < n {
		c.row = make([]driver.Value, n)
	}
	values := c.row[:n]
	for {
		if err := rows.Next(values); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		if err := each(values); err != nil {
			if errors.Is(err, errStop) {
				return nil
			}
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

// first returns the integer in the first column of the first row; found is
// false if there is none or it is NULL.
func (c *conn) first(text string, args ...any) (value int64, found bool, err error) {
	err = c.query(context.Background(), func(r row) error {
		value, found = r[0].(int64)
		return errStop
	}, text, args...)
	return value, found, err
}

// transaction runs the function in a transaction: all that it wrote is there
// afterwards, or nothing.
func (c *conn) transaction(do func() error) error {
	if err := c.exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	err := do()
	if err == nil {
		if err = c.exec("COMMIT"); err == nil {
			return nil
		}
	}
	// SQLite has rolled back by itself after most failures of the disk, so the
	// error of this one says nothing.
	_ = c.exec("ROLLBACK")
	return err
}

// named makes the driver's arguments.
func named(args []any) []driver.NamedValue {
	list := make([]driver.NamedValue, len(args))
	for i, arg := range args {
		list[i] = driver.NamedValue{Ordinal: i + 1, Value: value(arg)}
	}
	return list
}

// value turns what our rows hold into what the driver binds. Times become
// nanoseconds since 1970, the zero time 0.
func value(arg any) driver.Value {
	switch v := arg.(type) {
	case int:
		return int64(v)
	case bool:
		if v {
			return int64(1)
		}
		return int64(0)
	case time.Time:
		return nanoseconds(v)
	default:
		return arg
	}
}

// nanoseconds is how times are stored.
func nanoseconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

// A row is what a query gives, with the conversions of value turned round.
type row []driver.Value

func (r row) int(i int) int64 {
	v, _ := r[i].(int64)
	return v
}

func (r row) float(i int) float64 {
	switch v := r[i].(type) {
	case float64:
		return v
	case int64:
		return float64(v)
	}
	return 0
}

func (r row) text(i int) string {
	v, _ := r[i].(string)
	return v
}

func (r row) bytes(i int) []byte {
	v, _ := r[i].([]byte)
	return v
}

func (r row) time(i int) time.Time {
	if v := r.int(i); v != 0 {
		return time.Unix(0, v).UTC()
	}
	return time.Time{}
}

// A pool is a few connections for reading, opened when they are needed.
type pool struct {
	open   func() (*conn, error)
	slots  chan *conn // nil for one that is not open
	closed chan struct{}
}

func newPool(size int, open func() (*conn, error)) *pool {
	p := &pool{open: open, slots: make(chan *conn, size), closed: make(chan struct{})}
	for range size {
		p.slots <- nil
	}
	return p
}

// with lends a connection to the function. One that met an error of the storage
// is not used again.
func (p *pool) with(ctx context.Context, use func(*conn) error) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	var c *conn
	select {
	case <-p.closed:
		return ErrClosed
	default:
	}
	select {
	case c = <-p.slots:
	case <-p.closed:
		return ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { p.slots <- c }()
	if c == nil {
		opened, err := p.open()
		if err != nil {
			return err
		}
		c = opened
	}
	if err = use(c); err != nil && storageError(err) {
		_ = c.close() // the error in hand says more
		c = nil
	}
	return err
}

// close waits for the connections that are lent and closes all.
func (p *pool) close() error {
	close(p.closed)
	var errs []error
	for range cap(p.slots) {
		if c := <-p.slots; c != nil {
			errs = append(errs, c.close())
		}
	}
	return errors.Join(errs...)
}
