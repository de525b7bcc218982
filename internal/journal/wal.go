package journal

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// SQLite reads its write-ahead log up to the first frame with a wrong checksum and
// takes what follows for nothing. After a crash that is right: the last transaction
// was not written whole. It is also what happens if a part in the middle is
// damaged, and then transactions that were committed are gone without a word. So the
// log is read here before SQLite does, to notice.
//
// https://www.sqlite.org/fileformat2.html#the_write_ahead_log describes the log,
// https://www.sqlite.org/walformat.html its index, the file with the suffix -shm.

const (
	logHeader      = 32
	logFrameHeader = 24
	logMagic       = 0x377f0682 // the lowest bit says that checksums are big-endian
)

// A logScan is what is found in a write-ahead log.
type logScan struct {
	// size is that of the file; blank says that it holds nothing but zeros.
	size  int64
	blank bool
	// valid says that the header is; the rest is meaningless otherwise.
	valid bool
	page  int64
	salts [8]byte // of this generation: SQLite changes them whenever it begins again from the start
	// frames counts the valid ones from the start, committed those of them up to the
	// last that ends a transaction.
	frames, committed int64
	// later counts the frames behind the first invalid one that end a transaction of
	// this generation. A transaction that was rolled back or cut short by a crash
	// leaves none: its last frame is the one that commits it.
	later int64
}

// committedBytes is how much of the file SQLite uses.
func (l *logScan) committedBytes() int64 {
	return logHeader + l.committed*(logFrameHeader+l.page)
}

// scanLog reads a write-ahead log; one that does not exist is of size 0.
func scanLog(path string) (*logScan, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &logScan{blank: true}, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	scan, err := readLog(bufio.NewReaderSize(file, 1<<20))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	return scan, nil
}

// readLog reads a write-ahead log to its end.
func readLog(r io.Reader) (*logScan, error) {
	l := &logScan{blank: true}
	header := make([]byte, logHeader)
	n, err := io.ReadFull(r, header)
	l.size = int64(n)
	l.checkBlank(header[:n])
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return l, nil
	}
	if err != nil {
		return nil, err
	}
	order, sum, ok := l.readHeader(header)
	if !ok {
		return l, l.skip(r)
	}
	l.valid = true
	frame := make([]byte, logFrameHeader+l.page)
	for intact := true; ; {
		n, err := io.ReadFull(r, frame)
		l.size += int64(n)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return l, nil // what is cut off is not a frame
		}
		if err != nil {
			return nil, err
		}
		number, commits := binary.BigEndian.Uint32(frame), binary.BigEndian.Uint32(frame[4:]) != 0
		current := number != 0 && [8]byte(frame[8:16]) == l.salts
		if intact {
			want := [2]uint32{binary.BigEndian.Uint32(frame[16:]), binary.BigEndian.Uint32(frame[20:])}
			sum = logChecksum(order, logChecksum(order, sum, frame[:8]), frame[logFrameHeader:])
			if intact = current && sum == want; intact {
				l.frames++
				if commits {
					l.committed = l.frames
				}
			}
			// The first invalid frame itself says nothing: a crash may have come
			// between its header and its page.
		} else if current && commits {
			l.later++
		}
	}
}

// readHeader reads the header of a log, and says whether SQLite would take it.
func (l *logScan) readHeader(header []byte) (order binary.ByteOrder, sum [2]uint32, ok bool) {
	magic := binary.BigEndian.Uint32(header)
	order = binary.LittleEndian
	if magic&1 != 0 {
		order = binary.BigEndian
	}
	l.page = int64(binary.BigEndian.Uint32(header[8:]))
	l.salts = [8]byte(header[16:24])
	sum = logChecksum(order, sum, header[:24])
	ok = magic&^1 == logMagic && l.page >= 512 && l.page <= 65536 && l.page&(l.page-1) == 0 &&
		sum == [2]uint32{binary.BigEndian.Uint32(header[24:]), binary.BigEndian.Uint32(header[28:])}
	return order, sum, ok
}

// checkBlank clears blank if b holds anything but zeros.
func (l *logScan) checkBlank(b []byte) {
	for _, c := range b {
		if c != 0 {
			l.blank = false
			return
		}
	}
}

// skip reads the rest of a log whose header is not valid.
func (l *logScan) skip(r io.Reader) error {
	b := make([]byte, 64<<10)
	for {
		n, err := r.Read(b)
		l.size += int64(n)
		l.checkBlank(b[:n])
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// logChecksum is the checksum of the log, continued over b, whose length is a
// multiple of 8.
func logChecksum(order binary.ByteOrder, sum [2]uint32, b []byte) [2]uint32 {
	s0, s1 := sum[0], sum[1]
	if order == binary.LittleEndian { // as nearly every machine writes it; a call of the interface would not be inlined
		for ; len(b) >= 8; b = b[8:] {
			s0 += binary.LittleEndian.Uint32(b) + s1
			s1 += binary.LittleEndian.Uint32(b[4:]) + s0
		}
	}
	for ; len(b) >= 8; b = b[8:] {
		s0 += order.Uint32(b) + s1
		s1 += order.Uint32(b[4:]) + s0
	}
	return [2]uint32{s0, s1}
}

// A logIndex is what the index of a log says of it: the memory that the processes
// share that have the journal open. It outlives them, but not the machine.
type logIndex struct {
	salts [8]byte
	// frames counts those of the transactions that were committed, copied those of
	// them that are in the journal itself.
	frames, copied int64
}

// readLogIndex reads the index of a log; nil if there is none, or it is not whole.
func readLogIndex(path string) (*logIndex, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	const header = 48
	b := make([]byte, 2*header+4)
	if _, err := io.ReadFull(file, b); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	native := binary.NativeEndian
	// It is written twice, so that a reader notices when it is being changed.
	if string(b[:header]) != string(b[header:2*header]) || b[12] == 0 {
		return nil, nil
	}
	var order binary.ByteOrder = binary.LittleEndian
	if native.Uint16([]byte{0, 1}) == 1 {
		order = binary.BigEndian
	}
	if logChecksum(order, [2]uint32{}, b[:40]) != [2]uint32{native.Uint32(b[40:]), native.Uint32(b[44:])} {
		return nil, nil
	}
	return &logIndex{salts: [8]byte(b[32:40]), frames: int64(native.Uint32(b[16:])), copied: int64(native.Uint32(b[2*header:]))}, nil
}

// lostFrom says what a write-ahead log has lost, "" if nothing is known to be. The
// index tells of the last transactions too; it is nil if the machine was started
// since it was written, when it may be older or younger than the log.
func lostFrom(l *logScan, index *logIndex) string {
	switch {
	case l.valid && l.later > 0:
		return fmt.Sprintf("frame %d of its write-ahead log is damaged, and with it are lost the transactions from there on (%d or more)", l.frames+1, l.later)
	case l.valid && index != nil && index.salts == l.salts && index.frames > l.committed:
		return fmt.Sprintf("the end of its write-ahead log is damaged or missing: it has %d valid frames of %d", l.committed, index.frames)
	case !l.valid && index != nil && index.frames > index.copied:
		return fmt.Sprintf("its write-ahead log is damaged or missing, with %d frames that were nowhere else", index.frames-index.copied)
	case !l.valid && index == nil && l.size > logHeader && !l.blank:
		return "the header of its write-ahead log is damaged, and with it is lost what was written since the last checkpoint"
	}
	return ""
}
