package link

import (
	"bytes"
	"testing"
)

// BenchmarkCodec takes lines of 240 bytes through frames and out again.
func BenchmarkCodec(b *testing.B) {
	line := bytes.Repeat([]byte("x"), 240)
	frame := make([]byte, 0, 2*Batch)
	var d Decoder
	b.ReportAllocs()
	b.SetBytes(int64(len(line)))
	for n := int64(1); b.Loop(); n++ {
		frame, _, _ = AppendRecord(frame, &Record{Kind: Line, Number: n, Bytes: line}, 0, MaxFrame)
		if len(frame) < Batch {
			continue
		}
		d.Push(frame)
		for {
			if _, ok, err := d.Next(); err != nil {
				b.Fatal(err)
			} else if !ok {
				break
			}
		}
		frame = frame[:0]
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "lines/s")
}

// BenchmarkLink takes lines through the bookkeeping of both ends.
func BenchmarkLink(b *testing.B) {
	for name, live := range map[string]bool{"durable": false, "live": true} {
		b.Run(name, func(b *testing.B) {
			line := bytes.Repeat([]byte("x"), 240)
			out, in := NewOutgoing(0, 0), NewIncoming(0)
			if err := out.Connect(0); err != nil {
				b.Fatal(err)
			}
			frame := make([]byte, 0, 2*Batch)
			var d Decoder
			b.ReportAllocs()
			b.SetBytes(int64(len(line)))
			for n := 1; b.Loop(); n++ {
				if live {
					out.AddLive(line, "", true)
				} else {
					out.Add(Line, line)
				}
				if n%200 != 0 {
					continue
				}
				frame = out.AppendFrame(frame[:0])
				d.Push(frame)
				for {
					r, ok, err := d.Next()
					if err != nil {
						b.Fatal(err)
					}
					if !ok {
						break
					}
					if !in.Accept(&r).Fresh {
						b.Fatal("a line comes twice")
					}
				}
				if err := out.Ack(in.Have()); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "lines/s")
		})
	}
}
