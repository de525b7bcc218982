package claude

import (
	"testing"
	"testing/synctest"
)

// A session that is closed while its servers are being replaced closes the old
// and the new ones, each once.
func TestMCPServersSetWhileClosing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, second := &mcpFake{}, &mcpFake{}
		f, s, _ := askingSession(t, "2.1.325", &Options{MCPServers: map[string]MCPServer{"a": first}})
		got := make(chan error, 1)
		go func() {
			_, err := s.SetMCPServers(t.Context(), nil, map[string]MCPServer{"a": second})
			got <- err
		}()
		f.next(t) // which is never answered
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := <-got; err == nil {
			t.Error("there was no error")
		}
		synctest.Wait()
		for name, server := range map[string]*mcpFake{"old": first, "new": second} {
			if opened, closed, _ := server.counts(); opened != 1 || closed != 1 {
				t.Errorf("the %s server was opened %d times and closed %d times", name, opened, closed)
			}
		}
	})
}
