package claudetest

import "github.com/switchboard-dev/switchboard/wire"

// A control is how a request of the controller is answered, and since when there is one.
type control struct {
	since wire.Version
	run   func(*engine, controlRequest) *exit
}

// controls are all requests that the simulated CLI answers.
func controls() map[string]control {
	v62, v120, v325 := wire.Version{Major: 2, Minor: 1, Patch: 62}, wire.Version{Major: 2, Minor: 1, Patch: 120}, wire.Version{Major: 2, Minor: 1, Patch: 325}
	return map[string]control{
		"initialize":              {run: (*engine).initialize},
		"interrupt":               {run: (*engine).interrupt},
		"set_permission_mode":     {run: (*engine).setMode},
		"set_model":               {run: (*engine).setModel},
		"set_max_thinking_tokens": {run: (*engine).setThinking},
		"rewind_files":            {run: (*engine).rewindFiles},
		"mcp_status":              {run: (*engine).mcpStatus},
		"mcp_message":             {run: (*engine).mcpMessage},
		"mcp_set_servers":         {run: (*engine).mcpSetServers},
		"mcp_reconnect":           {run: (*engine).mcpReconnect},
		"mcp_toggle":              {run: (*engine).mcpToggle},

		"apply_flag_settings": {v62, (*engine).applyFlagSettings},
		"stop_task":           {v62, (*engine).stopTask},

		"get_settings":           {v120, (*engine).getSettings},
		"get_context_usage":      {v120, (*engine).getContextUsage},
		"get_session_cost":       {v120, (*engine).getSessionCost},
		"get_binary_version":     {v120, (*engine).getBinaryVersion},
		"read_file":              {v120, (*engine).readFile},
		"seed_read_state":        {v120, (*engine).agree},
		"reload_plugins":         {v120, (*engine).reloadPlugins},
		"cancel_async_message":   {v120, (*engine).cancelMessage},
		"side_question":          {v120, (*engine).sideQuestion},
		"generate_session_title": {v120, (*engine).generateTitle},
		"end_session":            {v120, (*engine).endSession},
		"mcp_call":               {v120, (*engine).mcpCall},

		"list_models":           {v325, (*engine).getModels},
		"list_permission_rules": {v325, (*engine).getRules},
		"get_hooks_listing":     {v325, (*engine).getHooks},
		"file_suggestions":      {v325, (*engine).suggestFiles},
		"rename_session":        {v325, (*engine).renameSession},
		"reload_skills":         {v325, (*engine).reloadSkills},
		"reload_output_styles":  {v325, (*engine).reloadStyles},
		"background_tasks":      {v325, (*engine).backgroundTasks},
		"get_task_output":       {v325, (*engine).taskOutput},
		"get_plan":              {v325, (*engine).getPlan},
		"get_status":            {v325, (*engine).getStatus},
		"get_workspace_diff":    {v325, (*engine).getDiff},
		"export_conversation":   {v325, (*engine).exportConversation},
		"set_has_subscribers":   {v325, (*engine).setSubscribers},
		"get_memory_dialog":     {v325, (*engine).getMemory},
		"get_skills_dialog":     {v325, (*engine).getSkills},
		"set_cwd":               {v325, (*engine).setFolder},
		"rewind_conversation":   {v325, (*engine).rewindConversation},
		"update_settings":       {v325, (*engine).updateSettings},
		"register_repo_root":    {v325, (*engine).registerRoot},
		"mcp_read_resource":     {v325, (*engine).readResource},
	}
}

// agree answers a request that has no effect in a simulation.
func (e *engine) agree(r controlRequest) *exit {
	e.succeed(r, nil)
	return nil
}

// endSession ends the process in good order.
func (e *engine) endSession(r controlRequest) *exit {
	e.succeed(r, nil)
	e.endInGoodOrder()
	return &exit{code: 0}
}
