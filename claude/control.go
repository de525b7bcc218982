package claude

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/switchboard-dev/switchboard/wire"
)

// Request sends a control request and waits for its answer; the methods of
// [Session] below do so for each of those that are public. What the version of
// the CLI cannot do is an [*UnsupportedError] before anything is sent, an error
// answer a [*ControlError], and no answer in Options.RequestTimeout [ErrNoAnswer].
//
// A request without an answer of its own gives a [*wire.UnknownAnswer].
func (s *Session) Request(ctx context.Context, r wire.Request) (wire.Answer, error) {
	if r == nil {
		return nil, errors.New("there is no request")
	}
	answer, err := s.conn.Request(ctx, r)
	if err != nil {
		return nil, err
	}
	return wire.DecodeAnswer(r.RequestSubtype(), answer.Response)
}

// RawRequest sends a control request that this package has no type for, an object
// with the member "subtype", and returns the body of the answer; nil if it has
// none. It needs 2.1.40: older versions never answer what they do not know.
func (s *Session) RawRequest(ctx context.Context, request json.RawMessage) (json.RawMessage, error) {
	r := new(wire.UnknownRequest)
	if err := r.UnmarshalJSON(request); err != nil {
		return nil, fmt.Errorf("reading a control request: %w", err)
	}
	if r.RequestSubtype() == "" {
		return nil, errors.New(`reading a control request: it needs a member "subtype"`)
	}
	answer, err := s.conn.Request(ctx, r)
	if err != nil {
		return nil, err
	}
	return answer.Response, nil
}

// requestFor is Request with the answer's type.
func requestFor[A wire.Answer](ctx context.Context, s *Session, r wire.Request) (A, error) {
	var none A
	answer, err := s.Request(ctx, r)
	if err != nil {
		return none, err
	}
	typed, ok := answer.(A)
	if !ok {
		return none, fmt.Errorf("the answer to %s is a %T", r.RequestSubtype(), answer)
	}
	return typed, nil
}

// order is Request where the answer says nothing.
func (s *Session) order(ctx context.Context, r wire.Request) error {
	_, err := s.Request(ctx, r)
	return err
}

// Reinitialize sends the initialize request of the session's start again. Questions
// that are open and not known here are asked then, and hooks are registered anew.
// A session on a transport that reconnects does so by itself.
//
// Up to 2.1.120 the CLI refuses a second one, and tells the open questions all the
// same: then there is no answer and no error.
func (s *Session) Reinitialize(ctx context.Context) (*wire.InitializeAnswer, error) {
	answer, err := requestFor[*wire.InitializeAnswer](ctx, s, s.first)
	if refused, ok := errors.AsType[*ControlError](err); ok && refused.Answer != nil && refused.Answer.PendingPermissionRequests != nil {
		return nil, nil
	}
	return answer, err
}

// EndSession has the CLI end by itself, with a reason for its log. Since 2.1.72.
// [Session.Close] and [Session.Finish] are the usual ways.
func (s *Session) EndSession(ctx context.Context, reason string) error {
	return s.order(ctx, &wire.EndSessionRequest{Reason: reason})
}

// SetPermissionMode changes the permission mode. The one that is in force then is
// in [Session.Info]: it is told by the lines that follow. 2.1.37 and 2.1.62 take
// any mode, bypassPermissions too; later ones refuse what they cannot.
func (s *Session) SetPermissionMode(ctx context.Context, mode wire.PermissionMode) error {
	return s.order(ctx, &wire.SetPermissionModeRequest{Mode: mode})
}

// SetMCPPermissionMode makes the permissions of one MCP server's tools stricter
// than the session's: [wire.PermissionModeDefault] or [wire.PermissionModeAuto],
// empty to take that back. It returns the CLI's warning, if it has one. Since
// 2.1.182.
func (s *Session) SetMCPPermissionMode(ctx context.Context, server string, mode wire.PermissionMode) (warning string, err error) {
	body := map[string]any{"subtype": "set_mcp_permission_mode_override", "serverName": server, "mode": nil}
	if mode != "" {
		body["mode"] = mode
	}
	raw, err := json.Marshal(body)
	if err != nil {
		return "", err
	}
	answer, err := s.RawRequest(ctx, raw)
	if err != nil || len(answer) == 0 {
		return "", err
	}
	var a struct {
		Warning string `json:"warning"`
	}
	if err := json.Unmarshal(answer, &a); err != nil {
		return "", fmt.Errorf("reading the answer to set_mcp_permission_mode_override: %w", err)
	}
	return a.Warning, nil
}

// SetModel changes the model for the turns to come. An empty one takes the CLI's
// default.
func (s *Session) SetModel(ctx context.Context, model string) error {
	return s.order(ctx, &wire.SetModelRequest{Model: model})
}

// SetThinking limits the tokens for thinking; nil leaves it to the CLI. The display
// says how thinking is shown, on newer versions; it may be empty.
func (s *Session) SetThinking(ctx context.Context, maxTokens *int64, display wire.ThinkingDisplay) error {
	return s.order(ctx, &wire.SetMaxThinkingTokensRequest{MaxThinkingTokens: maxTokens, ThinkingDisplay: display})
}

// ApplySettings merges settings, an object, into those that were given at the
// start; a member that is null is taken away. Since 2.1.50.
func (s *Session) ApplySettings(ctx context.Context, settings any) error {
	raw, err := json.Marshal(settings)
	if err != nil {
		return fmt.Errorf("writing the settings: %w", err)
	}
	return s.order(ctx, &wire.ApplyFlagSettingsRequest{Settings: raw})
}

// Settings returns the settings in force, and where they come from. Since 2.1.69.
func (s *Session) Settings(ctx context.Context) (*wire.GetSettingsAnswer, error) {
	return requestFor[*wire.GetSettingsAnswer](ctx, s, &wire.GetSettingsRequest{})
}

// UpdateSettings writes settings, an object, to the user's or the local settings
// file. The CLI takes few members. Since 2.1.257.
func (s *Session) UpdateSettings(ctx context.Context, target wire.SettingsSource, settings any) error {
	raw, err := json.Marshal(settings)
	if err != nil {
		return fmt.Errorf("writing the settings: %w", err)
	}
	return s.order(ctx, &wire.UpdateSettingsRequest{Target: target, Settings: raw})
}

// HooksListing returns the hooks of settings, plugins and this session. Since
// 2.1.269.
func (s *Session) HooksListing(ctx context.Context) (*wire.GetHooksListingAnswer, error) {
	return requestFor[*wire.GetHooksListingAnswer](ctx, s, &wire.GetHooksListingRequest{})
}

// PermissionRules returns the permission rules and working folders in force. Since
// 2.1.269.
func (s *Session) PermissionRules(ctx context.Context) (*wire.PermissionRules, error) {
	answer, err := requestFor[*wire.ListPermissionRulesAnswer](ctx, s, &wire.ListPermissionRulesRequest{})
	if err != nil {
		return nil, err
	}
	return &answer.State, nil
}

// UpdateEnvironment sets variables in the environment of the CLI, and so of the
// tools that it starts from then on; those that it does not name stay. It returns
// when the line is written: no version answers it. The values are not kept here,
// and no error has them.
//
// Up to 2.1.173 any variable can be set, but not [MarkerEnv]. Newer versions take
// their own tokens alone, such as CLAUDE_CODE_OAUTH_TOKEN, and ignore the rest
// without a word; so another name is an [*UnsupportedError] there, and nothing is
// sent.
//
//	err := s.UpdateEnvironment(ctx, map[string]string{"DEPLOY_TOKEN": token})
func (s *Session) UpdateEnvironment(ctx context.Context, variables map[string]string) error {
	if len(variables) == 0 {
		return nil
	}
	if _, ours := variables[MarkerEnv]; ours {
		return fmt.Errorf("changing the environment: %s can't be changed: the processes of the session are found by it", MarkerEnv)
	}
	line, err := wire.NewEnvironment(variables)
	if err != nil {
		return fmt.Errorf("changing the environment: %w", err)
	}
	if err := s.conn.Send(ctx, line); err != nil {
		return fmt.Errorf("changing the environment: %w", err)
	}
	return nil
}

// SetTitle names the conversation. Since 2.1.149.
func (s *Session) SetTitle(ctx context.Context, title string) error {
	return s.order(ctx, &wire.RenameSessionRequest{Title: title})
}

// GenerateTitle has the model make a title from a description of the conversation;
// persist also names it so. Since 2.1.74.
func (s *Session) GenerateTitle(ctx context.Context, description string, persist bool) (string, error) {
	answer, err := requestFor[*wire.GenerateSessionTitleAnswer](ctx, s, &wire.GenerateSessionTitleRequest{Description: description, Persist: persist})
	if err != nil {
		return "", err
	}
	return answer.Title, nil
}

// SetColor sets the accent color of the session. No version up to 2.1.325 takes it
// without a screen, and those are not asked.
func (s *Session) SetColor(ctx context.Context, color string) error {
	return s.order(ctx, &wire.SetColorRequest{Color: color})
}

// SetHasSubscribers tells the CLI whether a front end watches what it says; nil, that
// it is not known. Since 2.1.319.
func (s *Session) SetHasSubscribers(ctx context.Context, has *bool) error {
	return s.order(ctx, &wire.SetHasSubscribersRequest{HasSubscribers: has})
}

// SideQuestion has the model answer a question beside the conversation, which does
// not become part of it. Since 2.1.79.
func (s *Session) SideQuestion(ctx context.Context, question string) (*wire.SideQuestionAnswer, error) {
	return requestFor[*wire.SideQuestionAnswer](ctx, s, &wire.SideQuestionRequest{Question: question})
}

// ContextUsage returns how the context is used. The detail may be empty. Since
// 2.1.86.
func (s *Session) ContextUsage(ctx context.Context, detail wire.ContextDetail) (*wire.GetContextUsageAnswer, error) {
	return requestFor[*wire.GetContextUsageAnswer](ctx, s, &wire.GetContextUsageRequest{Detail: detail})
}

// CostText returns what the session has cost as a text for people. Since 2.1.118.
// [Session.Costs] has the figures, on every version.
func (s *Session) CostText(ctx context.Context) (string, error) {
	answer, err := requestFor[*wire.GetSessionCostAnswer](ctx, s, &wire.GetSessionCostRequest{})
	if err != nil {
		return "", err
	}
	return answer.Text, nil
}

// Usage returns what the session has used, and the limits of the account's plan,
// for which the CLI asks the vendor. Since 2.1.169.
func (s *Session) Usage(ctx context.Context) (*wire.GetUsageAnswer, error) {
	return requestFor[*wire.GetUsageAnswer](ctx, s, &wire.GetUsageRequest{})
}

// Models returns the models that can be chosen now. Since 2.1.198; those of the
// start are in [Session.Info], on every version.
func (s *Session) Models(ctx context.Context) ([]wire.ModelInfo, error) {
	answer, err := requestFor[*wire.ListModelsAnswer](ctx, s, &wire.ListModelsRequest{})
	if err != nil {
		return nil, err
	}
	return answer.Models, nil
}

// BinaryVersion returns the version of the program that answers. Since 2.1.119.
func (s *Session) BinaryVersion(ctx context.Context) (*wire.GetBinaryVersionAnswer, error) {
	return requestFor[*wire.GetBinaryVersionAnswer](ctx, s, &wire.GetBinaryVersionRequest{})
}

// StopTask stops a task in the background. Since 2.1.41, where an unknown task is
// an error; 2.1.325 takes it for one that has ended.
func (s *Session) StopTask(ctx context.Context, id string) error {
	return s.order(ctx, &wire.StopTaskRequest{TaskID: id})
}

// BackgroundTasks has commands and sub-agents that the turn waits for go on in the
// background: the one of a tool call, or all if toolUseID is empty. It reports
// whether the CLI says that there was one. Since 2.1.139.
func (s *Session) BackgroundTasks(ctx context.Context, toolUseID string) (bool, error) {
	answer, err := requestFor[*wire.BackgroundTasksAnswer](ctx, s, &wire.BackgroundTasksRequest{ToolUseID: toolUseID})
	if err != nil {
		return false, err
	}
	return answer.Backgrounded != nil && *answer.Backgrounded, nil
}

// TaskOutput returns the end of what a task in the background has written, at most
// 8 KiB. Since 2.1.287.
func (s *Session) TaskOutput(ctx context.Context, id string) (*wire.GetTaskOutputAnswer, error) {
	return requestFor[*wire.GetTaskOutputAnswer](ctx, s, &wire.GetTaskOutputRequest{TaskID: id})
}

// RewindFiles undoes the changes of files since a user message, whose uuid is
// given; it needs Options.FileCheckpointing. A dry run only says what would be
// undone, or why that cannot be: a real one that cannot be is an error.
func (s *Session) RewindFiles(ctx context.Context, messageID string, dryRun bool) (*wire.RewindFilesAnswer, error) {
	r := &wire.RewindFilesRequest{UserMessageID: messageID, DryRun: dryRun}
	answer, err := requestFor[*wire.RewindFilesAnswer](ctx, s, r)
	if err == nil && !dryRun && !answer.CanRewind {
		return answer, &ControlError{Subtype: r.RequestSubtype(), Message: answer.Error}
	}
	return answer, err
}

// FileSuggestions returns files for the beginning of a path that a user types.
// Since 2.1.124.
func (s *Session) FileSuggestions(ctx context.Context, query string) (*wire.FileSuggestionsAnswer, error) {
	return requestFor[*wire.FileSuggestionsAnswer](ctx, s, &wire.FileSuggestionsRequest{Query: query})
}

// ReadFile reads a file where the CLI is, which may be another machine, and which
// reads only what its rules let it. If maxBytes is zero, the CLI has a limit of its
// own; the encoding may be empty. Since 2.1.116.
func (s *Session) ReadFile(ctx context.Context, path string, maxBytes int64, encoding wire.FileEncoding) (*wire.ReadFileAnswer, error) {
	return requestFor[*wire.ReadFileAnswer](ctx, s, &wire.ReadFileRequest{Path: path, MaxBytes: maxBytes, Encoding: encoding})
}

// SeedReadState tells the CLI that the model knows a file as it was at a time, so
// that it may edit it without reading it first. Since 2.1.83.
func (s *Session) SeedReadState(ctx context.Context, path string, modified time.Time) error {
	return s.order(ctx, &wire.SeedReadStateRequest{Path: path, Mtime: float64(modified.UnixMilli())})
}

// RegisterRepoRoot adds a working folder and returns it as the CLI names it. The
// request says what is read anew because of it. Since 2.1.166.
func (s *Session) RegisterRepoRoot(ctx context.Context, r *wire.RegisterRepoRootRequest) (string, error) {
	if r == nil {
		return "", errors.New("there is no request")
	}
	answer, err := requestFor[*wire.RegisterRepoRootAnswer](ctx, s, r)
	if err != nil {
		return "", err
	}
	return answer.Directory, nil
}

// ReloadPlugins reads the plugins anew. A nil request is valid. Since 2.1.85.
func (s *Session) ReloadPlugins(ctx context.Context, r *wire.ReloadPluginsRequest) (*wire.ReloadPluginsAnswer, error) {
	if r == nil {
		r = &wire.ReloadPluginsRequest{}
	}
	return requestFor[*wire.ReloadPluginsAnswer](ctx, s, r)
}

// ReloadSkills reads the skills anew and returns them. Since 2.1.163.
func (s *Session) ReloadSkills(ctx context.Context) ([]wire.SlashCommand, error) {
	answer, err := requestFor[*wire.ReloadSkillsAnswer](ctx, s, &wire.ReloadSkillsRequest{})
	if err != nil {
		return nil, err
	}
	return answer.Skills, nil
}

// ReloadOutputStyles reads the output styles anew and returns their names. Since
// 2.1.261.
func (s *Session) ReloadOutputStyles(ctx context.Context) ([]string, error) {
	answer, err := requestFor[*wire.ReloadOutputStylesAnswer](ctx, s, &wire.ReloadOutputStylesRequest{})
	if err != nil {
		return nil, err
	}
	return answer.AvailableOutputStyles, nil
}
