package node

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"strings"
	"testing"
)

func TestProof(t *testing.T) {
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	other, _, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	nonce := bytes.Repeat([]byte{1}, NonceSize)
	proof := Proof{Nonce: nonce, Hub: "hub1", Host: "hub.example", Node: NewID()}
	signature := Sign(private, proof)
	if !Verify(public, proof, signature) {
		t.Fatal("the signature of the key is refused")
	}
	with := func(change func(*Proof)) Proof {
		p := proof
		change(&p)
		return p
	}
	for name, test := range map[string]struct {
		key       ed25519.PublicKey
		proof     Proof
		signature []byte
	}{
		"another key":            {other, proof, signature},
		"no key":                 {nil, proof, signature},
		"the key of nothing":     {make(ed25519.PublicKey, ed25519.PublicKeySize), proof, make([]byte, ed25519.SignatureSize)},
		"another nonce":          {public, with(func(p *Proof) { p.Nonce = bytes.Repeat([]byte{2}, NonceSize) }), signature},
		"no nonce":               {public, with(func(p *Proof) { p.Nonce = nil }), Sign(private, with(func(p *Proof) { p.Nonce = nil }))},
		"another hub":            {public, with(func(p *Proof) { p.Hub = "hub2" }), signature},
		"another host":           {public, with(func(p *Proof) { p.Host = "evil.example" }), signature},
		"another node":           {public, with(func(p *Proof) { p.Node = NewID() }), signature},
		"parts that are shifted": {public, with(func(p *Proof) { p.Hub, p.Host = "hub1hub", ".example" }), signature},
		"no signature":           {public, proof, nil},
		"half a signature":       {public, proof, signature[:32]},
		"of the bare parts":      {public, proof, ed25519.Sign(private, append(nonce, proof.Hub+proof.Host+proof.Node...))},
	} {
		if Verify(test.key, test.proof, test.signature) {
			t.Errorf("%s: accepted", name)
		}
	}
}

// Some keys have signatures that everyone can make: none of them is one.
func TestWeakKeys(t *testing.T) {
	made := 0
	for _, text := range weakPoints {
		for _, sign := range []byte{0, 0x80} {
			key, err := hex.DecodeString(text)
			if err != nil {
				t.Fatal(err)
			}
			key[31] |= sign
			if _, err := ParseKey(KeyText(key)); err == nil {
				t.Errorf("%x is accepted", key)
			}
			for _, r := range weakPoints { // R is a point of small order, S is zero
				point, err := hex.DecodeString(r)
				if err != nil {
					t.Fatal(err)
				}
				for range 16 {
					p := Proof{Nonce: NewNonce(), Hub: "h", Host: "h", Node: "n"}
					signature := append(bytes.Clone(point), make([]byte, 32)...)
					if ed25519.Verify(key, p.text(), signature) {
						made++
					}
					if Verify(key, p, signature) {
						t.Fatalf("a signature of %x was made without its key", key)
					}
				}
			}
		}
	}
	if made == 0 {
		t.Error("the test makes no such signature")
	}
}

func TestHost(t *testing.T) {
	for host, want := range map[string]string{
		"Hub.Example": "hub.example", "hub.example:443": "hub.example", "hub.example:80": "hub.example", "hub.example:8765": "hub.example:8765",
		"127.0.0.1:8765": "127.0.0.1:8765", "[::1]:443": "[::1]", "[::1]:8765": "[::1]:8765", "hub.example.": "hub.example", "": "",
	} {
		if got := Host(host); got != want {
			t.Errorf("%q is %q, want %q", host, got, want)
		}
	}
}

func TestNames(t *testing.T) {
	for name, ok := range map[string]bool{
		"gpu-1": true, "a1": true, "a.b-c": true, strings.Repeat("a", 63): true,
		"": false, "a": false, "-a": false, "a-": false, "A1": false, "a_b": false, "ä1": false, "a/b": false, "any": false, "local": false, "hub": false, strings.Repeat("a", 64): false,
		NewID(): false,
	} {
		if err := CheckName(name); (err == nil) != ok {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, labels := range []map[string]string{{"": "x"}, {"a b": "x"}, {"a": "x y"}, {"a": strings.Repeat("x", 64)}, {strings.Repeat("a", 64): ""}, {"a": "\n"}} {
		if CheckLabels(labels) == nil {
			t.Errorf("%q is accepted", labels)
		}
	}
	many := map[string]string{}
	for range MaxLabels + 1 {
		many[NewID()] = "x"
	}
	if CheckLabels(many) == nil || CheckLabels(map[string]string{"gpu": "h100", "zone": "", "example.com/x": "a:b@c+d"}) != nil {
		t.Error("labels")
	}
}

func TestSecretsDiffer(t *testing.T) {
	for name, make := range map[string]func() string{"id": NewID, "code": NewCode, "ticket": NewTicket, "nonce": func() string { return string(NewNonce()) }} {
		seen := map[string]bool{}
		for range 100 {
			seen[make()] = true
		}
		if len(seen) != 100 {
			t.Errorf("%s: two are the same", name)
		}
	}
	if !IsID(NewID()) || IsID("gpu-1") || len(NewTicket()) < 51 || len(NewCode()) < 36 {
		t.Error("lengths")
	}
	key, _, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	if back, err := ParseKey(KeyText(key)); err != nil || !key.Equal(back) || !strings.HasPrefix(Fingerprint(key), "sha256:") {
		t.Errorf("%v, %v", back, err)
	}
	for _, text := range []string{"", "AAAA", KeyText(key) + "A", strings.TrimRight(KeyText(key), "=")} {
		if _, err := ParseKey(text); err == nil {
			t.Errorf("%q is a key", text)
		}
	}
}
