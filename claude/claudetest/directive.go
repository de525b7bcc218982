package claudetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// The bounds of what a prompt can ask for. They keep a mistyped number from holding up a test for hours.
const (
	maxDirectives = 1000
	maxSlow       = time.Minute
	maxCount      = 1_000_000 // of events and of times
	maxTokens     = 1 << 30
)

// Directives returns a script that takes its orders from the user's prompt, so that the author of the prompt decides what the model does: in
// a demo, through a front end, or in a test that cannot reach the model from Go. Prompts without a directive are answered by otherwise, or
// with a short text if otherwise is nil.
//
// A directive is a line of the prompt (see [Request.Prompt]) that begins with @ and a word; spaces before it do not matter, and lines of any
// other form are ignored. What the model says:
//
//	@say TEXT                 a text block
//	@think TEXT               a thinking block
//	@redacted                 a redacted thinking block
//	@tool NAME {JSON}         a tool call; without JSON its input is {}
//	@huge BYTES               a text block of so many bytes, at most MaxHuge
//	@empty                    no content at all
//
// How it says it:
//
//	@stop REASON              the stop reason: max_tokens, refusal, ...
//	@usage in=N out=N cache_read=N cache_write=N
//	@slow DURATION            a pause before each delta, such as 50ms; at most 1m
//	@header NAME=VALUE ...    headers of the answer
//
// What goes wrong. Each of these takes times=N: only the first N attempts go wrong that way, after them comes the next such directive of the
// step, and at last the message. Without it, every attempt goes wrong.
//
//	@error STATUS             an HTTP error; NAME=VALUE adds a header, type=TYPE sets its type, message=TEXT (to the end of the line) its text
//	@error STATUS after=N     the same, as an error event after N events of the stream (the stream has the headers of @header)
//	@cut N                    the connection closed after N events
//	@malformed N              an event that is not JSON after N events
//
// A TEXT in double quotes is read as a JSON string, which is the way to say more than one line.
//
// The directives of a prompt are consumed step by step as the results of tools come back: a step ends behind a tool call, or behind several
// that follow each other, which are then calls of one message. @next ends a step before that. So this prompt is a message with a text and a
// call, whose first attempt fails, and one that ends the turn:
//
//	@error 529 times=1 retry-after=0
//	@say I will look.
//	@tool Bash {"command":"ls"}
//	@say That is all.
//
// A prompt with a mistake is answered with a text that names the line and what is wrong with it.
//
// The returned script keeps no state and is safe for concurrent use. Mind that a real CLI takes "@name" for a mention of a file; nothing
// comes of it unless a file of that name exists where it runs.
func Directives(otherwise func(Request) Reply) func(Request) Reply {
	if otherwise == nil {
		otherwise = func(Request) Reply {
			return Say(Text("The simulated model found no directive in the prompt. Try a line such as: @say hello"))
		}
	}
	return func(r Request) Reply {
		steps, err := parseDirectives(r.Prompt())
		if err != nil {
			return Say(Text("The simulated model does not understand the prompt: " + err.Error()))
		}
		if len(steps) == 0 {
			return otherwise(r)
		}
		if n := r.Replies(); n < len(steps) {
			return steps[n].attempt(max(r.Attempt, 1))
		}
		return scriptEnd()
	}
}

// directiveStep is what the directives say about one reply.
type directiveStep struct {
	reply    Reply
	troubles []trouble
}

// trouble is a way in which some attempts go wrong.
type trouble struct {
	times int // 0: always
	apply func(Reply) Reply
}

// attempt returns the reply to the n-th attempt, from 1.
func (s directiveStep) attempt(n int) Reply {
	for _, trouble := range s.troubles {
		if trouble.times == 0 || n <= trouble.times {
			return trouble.apply(s.reply)
		}
		n -= trouble.times
	}
	return s.reply
}

// parseDirectives reads the steps of a prompt; a prompt without directives has none.
func parseDirectives(prompt string) ([]directiveStep, error) {
	var steps []directiveStep
	current := directiveStep{}
	begun, called := false, false // whether the current step has a directive, and a tool call
	end := func() {
		steps = append(steps, current)
		current, begun, called = directiveStep{}, false, false
	}
	count, number := 0, 0
	for line := range strings.Lines(prompt) {
		number++
		name, argument, found := directive(line)
		if !found || simOnly(name) {
			continue
		}
		if count++; count > maxDirectives {
			return nil, fmt.Errorf("line %d: more than %d directives", number, maxDirectives)
		}
		if name == "next" {
			if argument != "" {
				return nil, fmt.Errorf("line %d: @next: want nothing after it, got %q", number, argument)
			}
			// Behind a tool call the step has ended already: one more end would be a message without content.
			if begun {
				end()
			}
			continue
		}
		if called && name != "tool" {
			end()
		}
		if err := current.add(name, argument); err != nil {
			return nil, fmt.Errorf("line %d: @%s: %w", number, name, err)
		}
		begun, called = true, name == "tool"
	}
	if begun {
		end()
	}
	return steps, nil
}

// directive splits a line into the word behind the @ and the rest. A line such as "@README.md is old" is none.
func directive(line string) (name, argument string, found bool) {
	rest, found := strings.CutPrefix(strings.TrimSpace(line), "@")
	if !found {
		return "", "", false
	}
	name, argument = word(rest)
	letter := func(c rune) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' }
	if name == "" || strings.TrimFunc(name, letter) != "" {
		return "", "", false
	}
	return name, argument, true
}

// word splits a text behind its first word.
func word(text string) (first, rest string) {
	end := strings.IndexAny(text, " \t")
	if end < 0 {
		return text, ""
	}
	return text[:end], strings.TrimSpace(text[end:])
}

// errUnknownDirective names what there is.
var errUnknownDirective = errors.New("unknown directive; known are @say @think @redacted @tool @huge @empty @stop @usage @slow @header @error @cut @malformed @next")

// add takes one directive into the step.
func (s *directiveStep) add(name, argument string) error {
	switch name {
	case "say", "think":
		text, err := directiveText(argument)
		if err != nil {
			return err
		}
		if name == "say" {
			return s.say(Text(text))
		}
		return s.say(Thinking(text))
	case "redacted":
		return s.say(RedactedThinking(signature))
	case "tool":
		block, err := directiveTool(argument)
		if err != nil {
			return err
		}
		return s.say(block)
	case "huge":
		length, err := number(argument, MaxHuge)
		if err != nil {
			return err
		}
		return s.say(Huge(length))
	case "empty":
		return nil // a step without content is empty; the directive only makes it a step
	case "stop":
		if argument == "" || strings.ContainsAny(argument, " \t") {
			return fmt.Errorf("want one word, such as max_tokens, got %q", argument)
		}
		s.reply.StopReason = argument
		return nil
	case "usage":
		return s.usage(argument)
	case "slow":
		delay, err := time.ParseDuration(argument)
		if err != nil || delay < 0 || delay > maxSlow {
			return fmt.Errorf("want a duration from 0s to %v, such as 50ms, got %q", maxSlow, argument)
		}
		s.reply.Delay = delay
		return nil
	case "header":
		for field := range strings.FieldsSeq(argument) {
			if err := setHeader(&s.reply, field); err != nil {
				return err
			}
		}
		return nil
	case "error":
		return s.fail(argument)
	case "cut":
		return s.fault(argument, CutAfter)
	case "malformed":
		return s.fault(argument, func(events int) Fault { return MalformedAfter(events, "") })
	default:
		return errUnknownDirective
	}
}

// say adds a block. All huge texts of a step together are bounded like one of them.
func (s *directiveStep) say(block Block) error {
	total := block.huge
	for _, other := range s.reply.Blocks {
		total += other.huge
	}
	if total > MaxHuge {
		return fmt.Errorf("the huge texts of one message have %d bytes together: want at most %d", total, MaxHuge)
	}
	s.reply.Blocks = append(s.reply.Blocks, block)
	return nil
}

// usage takes the arguments of @usage.
func (s *directiveStep) usage(argument string) error {
	usage := &s.reply.Usage
	counts := map[string]*int{
		"in": &usage.InputTokens, "out": &usage.OutputTokens,
		"cache_read": &usage.CacheReadInputTokens, "cache_write": &usage.CacheCreationInputTokens,
	}
	for field := range strings.FieldsSeq(argument) {
		name, value, _ := strings.Cut(field, "=")
		count, known := counts[name]
		if !known {
			return fmt.Errorf("want in=, out=, cache_read= or cache_write=, got %q", field)
		}
		tokens, err := number(value, maxTokens)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		*count = tokens
	}
	return nil
}

// fail takes the arguments of @error.
func (s *directiveStep) fail(argument string) error {
	first, rest := word(argument)
	status, err := strconv.Atoi(first)
	if err != nil || !isErrorStatus(status) {
		return fmt.Errorf("want an HTTP status from 400 to 599, got %q", first)
	}
	failure := APIError{Status: status}
	// The text may hold anything, also what looks like an argument.
	if before, text, found := strings.Cut(" "+rest, " message="); found {
		rest, failure.Message = before, text
	}
	headers := Reply{}
	times, after, inStream := 0, 0, false
	for field := range strings.FieldsSeq(rest) {
		name, value, _ := strings.Cut(field, "=")
		var err error
		switch name {
		case "times":
			times, err = positive(value)
		case "after":
			inStream = true
			after, err = number(value, maxCount)
		case "type":
			failure.Type = value
		default:
			err = setHeader(&headers, field)
			name = "header"
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if inStream && headers.Header != nil {
		return errors.New("an error inside the stream has no headers of its own; use @header")
	}
	s.troubles = append(s.troubles, trouble{times: times, apply: func(r Reply) Reply {
		if inStream {
			r.Fault = ErrorAfter(after, failure)
			return r
		}
		failed := Reply{Error: &failure, Header: r.Header}
		for name := range headers.Header {
			failed = failed.WithHeader(name, headers.Header.Get(name))
		}
		return failed
	}})
	return nil
}

// fault takes the arguments of @cut and @malformed.
func (s *directiveStep) fault(argument string, fault func(events int) Fault) error {
	first, rest := word(argument)
	events, err := number(first, maxCount)
	if err != nil {
		return err
	}
	times := 0
	if rest != "" {
		value, found := strings.CutPrefix(rest, "times=")
		if !found {
			return fmt.Errorf("want times=N, got %q", rest)
		}
		if times, err = positive(value); err != nil {
			return fmt.Errorf("times: %w", err)
		}
	}
	s.troubles = append(s.troubles, trouble{times: times, apply: func(r Reply) Reply {
		r.Fault = fault(events)
		return r
	}})
	return nil
}

// directiveText reads a text, which may be in quotes.
func directiveText(argument string) (string, error) {
	if len(argument) < 2 || argument[0] != '"' || argument[len(argument)-1] != '"' {
		return argument, nil
	}
	var text string
	if err := json.Unmarshal([]byte(argument), &text); err != nil {
		return "", fmt.Errorf("a text in quotes is to be a JSON string: %w", err)
	}
	return text, nil
}

// directiveTool reads the name and the input of a tool call.
func directiveTool(argument string) (Block, error) {
	name, input := word(argument)
	if name == "" || strings.ContainsAny(name, `{}"`) {
		return Block{}, fmt.Errorf("want the name of a tool and a JSON object, got %q", argument)
	}
	if input == "" {
		input = "{}"
	}
	// Checked here and not by Tool, which takes a mistake for one of the programmer.
	var object map[string]json.RawMessage
	if err := json.Unmarshal([]byte(input), &object); err != nil || object == nil {
		if err == nil {
			err = errors.New("it is null")
		}
		return Block{}, fmt.Errorf("the input of %s is to be a JSON object: %w", name, err)
	}
	return Tool(name, json.RawMessage(input)), nil
}

// setHeader adds a header that is written as name=value.
func setHeader(r *Reply, field string) error {
	name, value, found := strings.Cut(field, "=")
	letter := func(c rune) bool {
		return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-'
	}
	if !found || name == "" || strings.IndexFunc(name, func(c rune) bool { return !letter(c) }) >= 0 {
		return fmt.Errorf("want name=value, got %q", field)
	}
	*r = r.WithHeader(name, value)
	return nil
}

// positive reads a number of times.
func positive(text string) (int, error) {
	n, err := number(text, maxCount)
	if err == nil && n == 0 {
		err = fmt.Errorf("want a number from 1 to %d, got %q", maxCount, text)
	}
	return n, err
}

// number reads a number from 0 to limit.
func number(text string, limit int) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > limit {
		return 0, fmt.Errorf("want a number from 0 to %d, got %q", limit, text)
	}
	return n, nil
}
