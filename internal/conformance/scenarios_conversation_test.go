package conformance

// conversationScenarios are whole conversations over every transport.
func conversationScenarios() []Scenario {
	turns := func(s *Stage) {
		s.OnAsk(allow)
		first := s.Turn(`@say I will make it.
			@tool Bash {"command":"touch made-by-the-tool","description":"Make a file"}
			@say It is made.`)
		// What a silent tool says differs, and in hybrid mode 2.1.37's questions overtake its other lines.
		s.NoteLines(first.Lines, "user tool_result: ", "asks")
		s.NoteOnly(first.Lines, "asks")
		second := s.Turn("@say You are welcome.")
		s.NoteLines(second.Lines)
		s.Note("one conversation: %t", first.Result.SessionID != "" && first.Result.SessionID == second.Result.SessionID)
		s.Note("the model was asked %d and %d times", len(s.Asked(first.Tag)), len(s.Asked(second.Tag)))
	}
	want := Same(
		"system/init", "assistant text: I will make it.", `assistant tool_use Bash {"command":"touch made-by-the-tool","description":"Make a file"}`,
		"assistant text: It is made.", "result success: It is made.", "asks can_use_tool Bash",
		"system/init", "assistant text: You are welcome.", "result success: You are welcome.",
		"one conversation: true", "the model was asked 2 and 1 times",
	)
	return []Scenario{
		{
			ID: "conversation.turns", Facts: "§0 init every turn; seed 000: system/init is the first message; seed 004: init right after initialize",
			Also: map[string]string{"*": "the least that every version must do over every transport"}, Run: turns, Want: want,
		},
		{ID: "conversation.root", Facts: "hybrid where it posts for path /", Where: hybridOnly, Path: "/", Run: turns, Want: want},
		{ID: "conversation.wss", Facts: "WebSocket with TLS", Where: websocketOnly, TLS: true, Run: turns, Want: want},
	}
}
