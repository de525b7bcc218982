package history

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// An object is a JSON object under construction whose members stay in the order in which they were added: the order tells versions apart.
type object struct {
	buf bytes.Buffer
	err error // the first one
}

// add adds a member. A json.RawMessage is taken over without the spaces and line ends between its parts.
func (o *object) add(name string, value any) {
	if o.err != nil {
		return
	}
	o.buf.WriteByte(separator(o.buf.Len()))
	o.err = encodeTo(&o.buf, name)
	o.buf.WriteByte(':')
	if o.err == nil {
		o.err = encodeTo(&o.buf, value)
	}
	if o.err != nil {
		o.err = fmt.Errorf("encoding %s: %w", name, o.err)
	}
}

// addParent adds a member that refers to a line, or null if there is none.
func (o *object) addParent(name, uuid string, null bool) {
	if null || uuid == "" {
		o.add(name, nil)
		return
	}
	o.add(name, uuid)
}

// bytes returns the object. It is used up then.
func (o *object) bytes() []byte {
	if o.buf.Len() == 0 {
		o.buf.WriteByte('{')
	}
	o.buf.WriteByte('}')
	return o.buf.Bytes()
}

// separator is what stands before a member.
func separator(length int) byte {
	if length == 0 {
		return '{'
	}
	return ','
}

// encodeTo encodes a value as the CLI does, which leaves < > & as they are.
func encodeTo(buf *bytes.Buffer, value any) error {
	if raw, ok := value.(json.RawMessage); ok {
		return json.Compact(buf, raw)
	}
	e := json.NewEncoder(buf)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		return err
	}
	buf.Truncate(buf.Len() - 1) // Encode adds a line end
	return nil
}

// withMember returns a copy of the JSON object with another value for a member that it has; all else stays as it is, to the byte.
func withMember(line []byte, name, value string) ([]byte, error) {
	d := json.NewDecoder(bytes.NewReader(line))
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		var old json.RawMessage
		if err := d.Decode(&old); err != nil {
			return nil, err
		}
		if key != name {
			continue
		}
		end := int(d.InputOffset())
		var out bytes.Buffer
		out.Write(line[:end-len(old)])
		if err := encodeTo(&out, value); err != nil {
			return nil, err
		}
		out.Write(line[end:])
		return out.Bytes(), nil
	}
	return bytes.Clone(line), nil
}
