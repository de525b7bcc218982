package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
)

// The values of --phone.
const (
	phoneOn  = "on"
	phoneOff = "off"
)

// phoneScopes is what a phone may do if nothing else is said: it is lost more easily than a desk.
func phoneScopes() []string { return []string{"observe", "prompt", "approve"} }

// checkPhone says what is wrong with the flags for phones.
func (v *consoleVerb) checkPhone() error {
	switch {
	case v.phone != "" && v.phone != phoneOn && v.phone != phoneOff:
		return fmt.Errorf("--phone is %q; it can be on or off", v.phone)
	case v.listen != "" && v.phone != phoneOn:
		return errors.New("--listen is for phones; add --phone")
	}
	return nil
}

// runPhone has the hub listen for a phone, and shows how to open the console there.
func (v *consoleVerb) runPhone(ctx context.Context, s *surroundings, c *client.Client, route string) error {
	if v.phone == phoneOff {
		if err := c.ClosePhone(ctx); err != nil {
			return err
		}
		s.hint("Stopped listening for phones. Signed-in phones: switchboard token list")
		return nil
	}
	phone, err := c.OpenPhone(ctx, api.OpenPhone{Listen: v.listen})
	if err != nil {
		return err
	}
	scopes := v.scopes
	if len(scopes) == 0 {
		scopes = phoneScopes()
	}
	code, err := c.CreateCode(ctx, api.CreateCode{Name: v.name, Scopes: scopes})
	if err != nil {
		return err
	}
	if code.DeviceURL == "" {
		return errors.New("the hub has stopped listening for phones meanwhile; try again")
	}
	if isTerminal(s.stdout) && route == "" { // with a session in it, it is another address
		if err := writeLines(s.stdout, append(s.view(true).QR(code.QR), "")); err != nil {
			return err
		}
	}
	if _, err := fmt.Fprintln(s.stdout, code.DeviceURL+route); err != nil {
		return err
	}
	s.hint("\nScan the code or open the link on your phone. It works once, until %s.", code.Expires.Local().Format(time.TimeOnly))
	if phone.Fingerprint != "" {
		s.hint("The phone warns about the certificate, which the hub has made itself. Compare the fingerprint:")
		fmt.Fprintf(s.stderr, "SHA-256 %s\n", phone.Fingerprint)
		s.hint("Stop listening: switchboard console --phone=off")
	}
	if phone.Public {
		fmt.Fprintln(s.stderr, "warning: this is not a private address; the internet may reach it")
	}
	return nil
}
