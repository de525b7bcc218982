//go:build linux || darwin

package access

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/wire"
)

// as returns the context of a request that somebody makes.
func as(t *testing.T, id Identity) context.Context {
	t.Helper()
	rec := &record{}
	rec.set(id)
	return context.WithValue(t.Context(), recordKey{}, rec)
}

// boss returns the context of a request of the user.
func boss(t *testing.T) context.Context {
	t.Helper()
	return as(t, Identity{Name: "ann", Scopes: AllScopes()})
}

// bearing returns the identity of whoever bears a token.
func bearing(t *testing.T, b *TokenStore, text string) Identity {
	t.Helper()
	id, ok := New(&Options{Store: b}).ofToken(&peer{}, text, cookies{})
	if !ok {
		t.Fatal("the token is not good")
	}
	return id
}

// privateDir returns a folder that only we can enter.
func privateDir(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "d")
	noError(t, os.Mkdir(dir, 0o700))
	return dir
}

// openTokens opens the token store of a folder; it is closed with the test.
func openTokens(t *testing.T, dir string) *TokenStore {
	t.Helper()
	admin, err := LoadToken(dir)
	noError(t, err)
	b, err := OpenTokenStore(dir, admin, &TokenStoreOptions{URL: func() string { return "http://127.0.0.1:8765" }})
	noError(t, err)
	t.Cleanup(func() { _ = b.Close() }) // perhaps a second time
	return b
}

func create(t *testing.T, b *TokenStore, in api.CreateToken) *api.CreatedToken {
	t.Helper()
	made, err := b.Create(boss(t), in)
	noError(t, err)
	return made
}

// refusal returns the status and the code of an error for clients.
func refusal(t *testing.T, err error) string {
	t.Helper()
	e, ok := errors.AsType[*api.Error](err)
	if !ok || e.Title == "" {
		t.Fatalf("not an error for clients: %v", err)
	}
	return fmt.Sprint(e.Status, " ", e.Code)
}

func TestBook(t *testing.T) {
	dir := privateDir(t)
	b := openTokens(t, dir)
	made := create(t, b, api.CreateToken{Name: " phone ", Scopes: []string{"prompt", "observe"}, TTL: 3600})
	if made.Name != "phone" || strings.Join(made.Scopes, ",") != "observe,prompt" || made.Kind != "" || made.Expires.Sub(made.Created) != time.Hour {
		t.Errorf("made %+v", made)
	}
	id := bearing(t, b, made.Text)
	if id.Name != "phone" || id.Token != made.ID || id.Scopes.String() != "observe,prompt" || id.Source != SourcePerson {
		t.Errorf("its bearer is %+v", id)
	}
	noError(t, b.Close())

	path := filepath.Join(dir, TokensFile)
	text, err := os.ReadFile(path)
	noError(t, err)
	_, secret, _ := splitToken(made.Text)
	if strings.Contains(string(text), secret) {
		t.Error("the file holds the secret")
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("the file: %v, %v", info.Mode(), err)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("the folder holds %v, %v", files, err)
	}

	b = openTokens(t, dir)
	if id := bearing(t, b, made.Text); id.Name != "phone" || id.Scopes.String() != "observe,prompt" {
		t.Errorf("after a restart its bearer is %+v", id)
	}
	list, err := b.List(boss(t))
	noError(t, err)
	if len(list) != 1 || list[0].ID != made.ID || list[0].Used.IsZero() || !list[0].Expires.Equal(made.Expires) {
		t.Errorf("the list is %+v", list)
	}
	if encoded, err := json.Marshal(list); err != nil || strings.Contains(string(encoded), "sha256") || strings.Contains(string(encoded), secret) {
		t.Errorf("the list shows %s, %v", encoded, err)
	}

	watched, stop := Watch(t.Context(), bearing(t, b, made.Text))
	defer stop()
	noError(t, b.Revoke(boss(t), made.ID))
	<-watched.Done()
	if cause := context.Cause(watched); !errors.Is(cause, ErrRevoked) {
		t.Errorf("the cause is %v", cause)
	}
	if _, ok := b.match(made.Text, nil); ok {
		t.Error("a token that was revoked is good")
	}
	if got := refusal(t, b.Revoke(boss(t), made.ID)); got != "404 not_found" {
		t.Errorf("revoked twice: %s", got)
	}
	if _, ok := openTokens(t, dir).match(made.Text, nil); ok {
		t.Error("a token that was revoked is good after a restart")
	}
}

// Rights cannot be made out of nothing.
func TestBookRefuses(t *testing.T) {
	b := openTokens(t, privateDir(t))
	observer, nobody := as(t, Identity{Name: "x", Scopes: ScopesOf(wire.ScopeObserve, wire.ScopePrompt)}), t.Context()
	partial := as(t, Identity{Name: "x", Scopes: ScopesOf(wire.ScopeAdmin, wire.ScopeObserve)})
	for name, test := range map[string]struct {
		ctx  context.Context
		in   api.CreateToken
		want string
	}{
		"nobody":           {nobody, api.CreateToken{Name: "n", Scopes: []string{"observe"}}, "401 unauthorized"},
		"no admin":         {observer, api.CreateToken{Name: "n", Scopes: []string{"observe"}}, "403 forbidden"},
		"more than it has": {partial, api.CreateToken{Name: "n", Scopes: []string{"observe", "approve"}}, "403 forbidden"},
		"no rights":        {boss(t), api.CreateToken{Name: "n"}, "422 invalid"},
		"unknown right":    {boss(t), api.CreateToken{Name: "n", Scopes: []string{"root"}}, "422 invalid"},
		"no name":          {boss(t), api.CreateToken{Name: "  ", Scopes: []string{"observe"}}, "422 invalid"},
		"long name":        {boss(t), api.CreateToken{Name: strings.Repeat("n", 129), Scopes: []string{"observe"}}, "422 invalid"},
		"escape codes":     {boss(t), api.CreateToken{Name: "a\x1b[2J", Scopes: []string{"observe"}}, "422 invalid"},
		"two lines":        {boss(t), api.CreateToken{Name: "a\nb", Scopes: []string{"observe"}}, "422 invalid"},
		"as admin":         {boss(t), api.CreateToken{Name: "Admin", Scopes: []string{"observe"}}, "422 invalid"},
		"as the user":      {boss(t), api.CreateToken{Name: userName(), Scopes: []string{"observe"}}, "422 invalid"},
		"as the relay":     {boss(t), api.CreateToken{Name: "open relay", Scopes: []string{"observe"}}, "422 invalid"},
		"as an agent":      {boss(t), api.CreateToken{Name: "x (from an agent)", Scopes: []string{"observe"}}, "422 invalid"},
		"less than now":    {boss(t), api.CreateToken{Name: "n", Scopes: []string{"observe"}, TTL: -1}, "422 invalid"},
		"too long":         {boss(t), api.CreateToken{Name: "n", Scopes: []string{"observe"}, TTL: 1 << 62}, "422 invalid"},
	} {
		t.Run(name, func(t *testing.T) {
			made, err := b.Create(test.ctx, test.in)
			if made != nil || err == nil {
				t.Fatal("it was made")
			}
			if got := refusal(t, err); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
	for _, ctx := range []context.Context{nobody, observer} {
		if _, err := b.List(ctx); err == nil {
			t.Error("the list is shown to all")
		}
		if _, err := b.Code(ctx, api.CreateCode{}); err == nil {
			t.Error("a code is made for all")
		}
		if err := b.Revoke(ctx, "x"); refusal(t, err) == "404 not_found" {
			t.Error("all may revoke")
		}
	}
	if list, err := b.List(boss(t)); err != nil || len(list) != 0 {
		t.Errorf("there are %v, %v", list, err)
	}
}

func TestBookIsBounded(t *testing.T) {
	b := newTokenStore(nil)
	for range maxTokens {
		if _, _, err := b.add(nowStored(), tokenSpec{name: "n", scopes: AllScopes()}); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := b.add(nowStored(), tokenSpec{name: "n", scopes: AllScopes()}); err == nil || refusal(t, err) != "409 conflict" {
		t.Errorf("one too many: %v", err)
	}
}

func TestTokensExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newTokenStore(nil)
		defer func() { noError(t, b.Close()) }()
		short := create(t, b, api.CreateToken{Name: "n", Scopes: []string{"observe", "admin"}, TTL: 90})
		watched, stop := Watch(t.Context(), bearing(t, b, short.Text))
		defer stop()
		// What it makes does not outlive it.
		child, err := b.Create(as(t, bearing(t, b, short.Text)), api.CreateToken{Name: "c", Scopes: []string{"observe"}})
		noError(t, err)
		if !child.Expires.Equal(short.Expires) {
			t.Errorf("the child expires at %v", child.Expires)
		}
		time.Sleep(89 * time.Second)
		if _, ok := b.match(short.Text, nil); !ok || watched.Err() != nil {
			t.Error("it has expired too early")
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if _, ok := b.match(short.Text, nil); ok {
			t.Error("it is good after its time")
		}
		if !errors.Is(context.Cause(watched), ErrRevoked) {
			t.Errorf("whoever came with it is still there: %v", context.Cause(watched))
		}
	})
}

// A watch ends with its context, and without a token never by itself.
func TestWatch(t *testing.T) {
	for _, id := range []Identity{{}, {token: newEntry(Token{}, "", time.Time{}, time.Time{})}} {
		ctx, cancel := context.WithCancel(t.Context())
		watched, stop := Watch(ctx, id)
		if watched.Err() != nil {
			t.Error("it has ended by itself")
		}
		cancel()
		<-watched.Done()
		if !errors.Is(context.Cause(watched), context.Canceled) {
			t.Errorf("the cause is %v", context.Cause(watched))
		}
		stop()
		watched, stop = Watch(t.Context(), id)
		stop()
		if watched.Err() == nil || errors.Is(context.Cause(watched), ErrRevoked) {
			t.Errorf("stopped: %v", context.Cause(watched))
		}
	}
}

// The last use is written from time to time, not with each request.
func TestLastUse(t *testing.T) {
	dir := privateDir(t)
	synctest.Test(t, func(t *testing.T) {
		b := openTokens(t, dir)
		made := create(t, b, api.CreateToken{Name: "n", Scopes: []string{"observe"}})
		path := filepath.Join(dir, TokensFile)
		before, err := os.ReadFile(path)
		noError(t, err)
		for range 100 {
			bearing(t, b, made.Text)
		}
		if text, err := os.ReadFile(path); err != nil || string(text) != string(before) {
			t.Errorf("written at once: %v", err)
		}
		time.Sleep(saveUse)
		synctest.Wait()
		if text, err := os.ReadFile(path); err != nil || string(text) == string(before) || !strings.Contains(string(text), `"used"`) {
			t.Errorf("not written after a minute: %s, %v", text, err)
		}
		used := time.Now().Add(10 * time.Minute)
		time.Sleep(10 * time.Minute)
		bearing(t, b, made.Text)
		noError(t, b.Close()) // which writes the rest
		list, err := openTokens(t, dir).List(boss(t))
		noError(t, err)
		if len(list) != 1 || !list[0].Used.Equal(used.Truncate(time.Minute)) {
			t.Errorf("%+v, want %v", list, used)
		}
	})
}

// What cannot be written is said, and revoked all the same.
func TestBookCannotBeWritten(t *testing.T) {
	dir := privateDir(t)
	b := openTokens(t, dir)
	made := create(t, b, api.CreateToken{Name: "n", Scopes: []string{"observe"}})
	noError(t, os.Rename(dir, dir+"2"))
	if _, err := b.Create(boss(t), api.CreateToken{Name: "m", Scopes: []string{"observe"}}); err == nil || refusal(t, err) != "503 storage" {
		t.Errorf("Create: %v", err)
	}
	if err := b.Revoke(boss(t), made.ID); err == nil || refusal(t, err) != "503 storage" {
		t.Errorf("Revoke: %v", err)
	}
	if _, ok := b.match(made.Text, nil); ok {
		t.Error("it is still good")
	}
	if list, err := b.List(boss(t)); err != nil || len(list) != 0 {
		t.Errorf("the list is %v, %v", list, err)
	}
	noError(t, os.Rename(dir+"2", dir))
	noError(t, b.Revoke(boss(t), made.ID)) // and now for good
	if _, ok := openTokens(t, dir).match(made.Text, nil); ok {
		t.Error("it is good after a restart")
	}
}

func TestOpenTokenStoreRefuses(t *testing.T) {
	good := privateDir(t)
	first := openTokens(t, good)
	create(t, first, api.CreateToken{Name: "n", Scopes: []string{"observe"}})
	text, err := os.ReadFile(filepath.Join(good, TokensFile))
	noError(t, err)
	whole := string(text)
	write := func(text string, mode os.FileMode) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			t.Helper()
			noError(t, os.WriteFile(path, []byte(text), 0o600))
			noError(t, os.Chmod(path, mode))
		}
	}
	token := whole[strings.Index(whole, "    {") : strings.LastIndex(whole, "    }")+5]
	for name, test := range map[string]struct {
		make func(*testing.T, string)
		want string
	}{
		"read by others": {write(whole, 0o644), "can be read by others (mode 0644)"},
		"empty":          {write("", 0o600), "is damaged"},
		"cut off":        {write(whole[:len(whole)/2], 0o600), "is damaged"},
		"something else": {write("[]", 0o600), "is damaged"},
		"more":           {write(whole+"{}", 0o600), "something follows"},
		"newer":          {write(strings.Replace(whole, `"version": 1`, `"version": 2`, 1), 0o600), "version 2"},
		"unknown right":  {write(strings.Replace(whole, `"observe"`, `"root"`, 1), 0o600), `"root"`},
		"unknown kind":   {write(strings.Replace(whole, `"created"`, `"kind": "admin", "created"`, 1), 0o600), `"admin"`},
		"no hash":        {write(strings.Replace(whole, `"sha256": "`, `"sha256": "00`, 1), 0o600), "hash"},
		"no name":        {write(strings.Replace(whole, `"name": "n"`, `"name": ""`, 1), 0o600), "no name"},
		"twice":          {write(strings.Replace(whole, token, token+","+token, 1), 0o600), "two with the id"},
		"too large":      {write(whole+strings.Repeat(" ", maxTokensFile), 0o600), "too large"},
		"a folder":       {func(t *testing.T, path string) { t.Helper(); noError(t, os.Mkdir(path, 0o700)) }, "isn't a regular file"},
		"a pipe":         {func(t *testing.T, path string) { t.Helper(); noError(t, syscall.Mkfifo(path, 0o600)) }, "isn't a regular file"},
		"a link": {func(t *testing.T, path string) {
			t.Helper()
			noError(t, os.Symlink(filepath.Join(good, TokensFile), path))
		}, "is a link"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := privateDir(t)
			test.make(t, filepath.Join(dir, TokensFile))
			_, err := OpenTokenStore(dir, Token{}, nil)
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "remove it") {
				t.Errorf("OpenTokenStore: %v, want %q", err, test.want)
			}
		})
	}
	open := t.TempDir()
	noError(t, os.Chmod(open, 0o755))
	if _, err := OpenTokenStore(open, Token{}, nil); err == nil || !strings.Contains(err.Error(), "chmod 700") {
		t.Errorf("an open folder: %v", err)
	}
}

func TestBookForgets(t *testing.T) {
	dir := privateDir(t)
	synctest.Test(t, func(t *testing.T) {
		b := openTokens(t, dir)
		old := create(t, b, api.CreateToken{Name: "old", Scopes: []string{"observe"}, TTL: 60})
		time.Sleep(time.Minute + keepExpired)
		if list, err := b.List(boss(t)); err != nil || len(list) != 1 {
			t.Errorf("%v, %v", list, err)
		}
		time.Sleep(time.Second)
		create(t, b, api.CreateToken{Name: "new", Scopes: []string{"observe"}})
		list, err := b.List(boss(t))
		if err != nil || len(list) != 1 || list[0].Name != "new" {
			t.Errorf("%v is kept, %v, %v", old.ID, list, err)
		}
		noError(t, b.Close())
	})
}

func TestCodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newTokenStore(&TokenStoreOptions{URL: func() string { return "http://127.0.0.1:8765" }})
		defer func() { noError(t, b.Close()) }()
		made, err := b.Code(boss(t), api.CreateCode{Name: "phone", Scopes: []string{"observe", "approve"}})
		noError(t, err)
		if len(made.Code) < len(codePrefix)+26 || made.URL != "http://127.0.0.1:8765/#code="+made.Code || time.Until(made.Expires) > codeTTL {
			t.Errorf("made %+v", made)
		}
		wrong := func(code string) {
			t.Helper()
			start := time.Now()
			_, _, err := b.Login(t.Context(), api.Login{Code: code})
			if err == nil || refusal(t, err) != "401 unauthorized" || time.Since(start) < brakeShortest {
				t.Errorf("%v after %v", err, time.Since(start))
			}
		}
		wrong("")
		wrong(made.Code + "a")
		// A stranger does not learn who is called what.
		if _, _, err := b.Login(t.Context(), api.Login{Code: "x", Name: kindAdmin}); refusal(t, err) != "401 unauthorized" {
			t.Error(err)
		}
		if _, _, err := b.Login(t.Context(), api.Login{Code: made.Code, Name: "\x1b"}); refusal(t, err) != "422 invalid" {
			t.Error(err)
		}
		token, _, err := b.Login(t.Context(), api.Login{Code: made.Code, Name: "other"})
		noError(t, err)
		if token.Name != "phone" || token.Kind != kindDevice || strings.Join(token.Scopes, ",") != "observe,approve" || token.Expires.IsZero() {
			t.Errorf("the token is %+v", token)
		}
		if id := bearing(t, b, token.Text); id.Scopes.String() != "observe,approve" {
			t.Errorf("its bearer is %+v", id)
		}
		wrong(made.Code) // a second time

		late, err := b.Code(boss(t), api.CreateCode{})
		noError(t, err)
		time.Sleep(codeTTL)
		wrong(late.Code)

		all, err := b.Code(boss(t), api.CreateCode{})
		noError(t, err)
		token, _, err = b.Login(t.Context(), api.Login{Code: all.Code})
		noError(t, err)
		if token.Name != deviceName || strings.Join(token.Scopes, ",") != AllScopes().String() {
			t.Errorf("the token is %+v", token)
		}
		token, _, err = b.Login(t.Context(), api.Login{Code: b.ConsoleCode().Code, Name: "Firefox"})
		noError(t, err)
		if token.Name != "Firefox" {
			t.Errorf("the token is %+v", token)
		}
	})
}

// A code gives no more than its maker has, and no longer.
func TestCodesOfTokens(t *testing.T) {
	b := newTokenStore(nil)
	maker := create(t, b, api.CreateToken{Name: "m", Scopes: []string{"admin", "observe"}, TTL: 3600})
	ctx := as(t, bearing(t, b, maker.Text))
	if _, err := b.Code(ctx, api.CreateCode{Scopes: []string{"approve"}}); refusal(t, err) != "403 forbidden" {
		t.Error(err)
	}
	if _, err := b.Code(ctx, api.CreateCode{Name: "admin"}); refusal(t, err) != "422 invalid" {
		t.Error(err)
	}
	made, err := b.Code(ctx, api.CreateCode{})
	noError(t, err)
	if made.URL != "" {
		t.Errorf("an address without a server: %s", made.URL)
	}
	token, _, err := b.Login(t.Context(), api.Login{Code: made.Code})
	noError(t, err)
	if strings.Join(token.Scopes, ",") != "observe,admin" || !token.Expires.Equal(maker.Expires) {
		t.Errorf("the token is %+v", token)
	}
	made, err = b.Code(ctx, api.CreateCode{})
	noError(t, err)
	noError(t, b.Revoke(boss(t), maker.ID))
	if _, _, err := b.Login(t.Context(), api.Login{Code: made.Code}); refusal(t, err) != "401 unauthorized" {
		t.Error(err)
	}
	noError(t, b.Close())
}

// A token that has ended makes no other, however late that is noticed.
func TestEndedMaker(t *testing.T) {
	b := newTokenStore(nil)
	maker := create(t, b, api.CreateToken{Name: "m", Scopes: []string{"admin"}})
	id := bearing(t, b, maker.Text)
	noError(t, b.Revoke(boss(t), maker.ID))
	if _, err := b.Create(as(t, id), api.CreateToken{Name: "n", Scopes: []string{"admin"}}); refusal(t, err) != "401 unauthorized" {
		t.Error(err)
	}
	if _, err := b.Code(as(t, id), api.CreateCode{}); refusal(t, err) != "401 unauthorized" {
		t.Error(err)
	}
	// As if it were revoked just before the token is put into the store.
	if _, _, err := b.add(nowStored(), tokenSpec{name: "n", scopes: id.Scopes, maker: id.token}); refusal(t, err) != "401 unauthorized" {
		t.Error(err)
	}
	list, err := b.List(boss(t))
	noError(t, err)
	if len(list) != 0 {
		t.Errorf("there are %+v", list)
	}
	noError(t, b.Close())
}

func TestCodesAreBounded(t *testing.T) {
	b := newTokenStore(nil)
	codes := make([]string, maxCodes+1)
	for i := range codes {
		codes[i] = b.ConsoleCode().Code
	}
	if b.redeem(codes[0]) != nil || b.redeem(codes[1]) == nil || b.redeem(codes[maxCodes]) == nil {
		t.Error("not the oldest is forgotten")
	}
	for range brakeSlots {
		b.brake.slots <- struct{}{}
	}
	if _, _, err := b.Login(t.Context(), api.Login{Code: codes[0]}); refusal(t, err) != fmt.Sprint(http.StatusTooManyRequests, " ", api.CodeUnauthorized) {
		t.Error(err)
	}
	if _, _, err := b.Login(t.Context(), api.Login{Code: codes[2]}); err != nil {
		t.Errorf("the right one: %v", err)
	}
	noError(t, b.Close())
}

// A code is good for one of many who use it at once.
func TestCodesAtOnce(t *testing.T) {
	b := newTokenStore(nil)
	code := b.ConsoleCode().Code
	var wg sync.WaitGroup
	var mu sync.Mutex
	made := 0
	for range 8 {
		wg.Go(func() {
			if b.redeem(code) != nil {
				mu.Lock()
				made++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if made != 1 {
		t.Errorf("it was good %d times", made)
	}
}

// TestPerson says to which person devices and tokens belong, also after a restart.
func TestPerson(t *testing.T) {
	dir := privateDir(t)
	b := openTokens(t, dir)
	made := create(t, b, api.CreateToken{Name: "grace", Scopes: AllScopes().names()})
	grace := bearing(t, b, made.Text)
	login := func(code *api.Code) string {
		t.Helper()
		token, _, err := b.Login(t.Context(), api.Login{Code: code.Code, Name: "Firefox"})
		noError(t, err)
		return token.Text
	}
	hers, err := b.Code(as(t, grace), api.CreateCode{})
	noError(t, err)
	device := login(hers)
	// A device that a device lets in belongs to the same person.
	further, err := b.Code(as(t, bearing(t, b, device)), api.CreateCode{})
	noError(t, err)
	phone, console := login(further), login(b.ConsoleCode())
	noError(t, b.Close())
	b = openTokens(t, dir)
	for text, want := range map[string]string{made.Text: "grace", device: "grace", phone: "grace", console: b.user} {
		if id := bearing(t, b, text); id.Person() != want {
			t.Errorf("%s belongs to %q, want %q", id.Name, id.Person(), want)
		}
	}
	limited := bearing(t, b, device)
	limited.limit()
	if limited.Person() == "grace" {
		t.Error("a process of an agent is taken for the person whose token it has found")
	}
}
