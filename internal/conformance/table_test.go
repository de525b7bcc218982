package conformance

import "slices"

// scenarios returns the table, by theme.
func scenarios() []Scenario {
	return slices.Concat(
		conversationScenarios(),
		badInputScenarios(),
		startScenarios(),
		lineScenarios(),
		controlScenarios(),
		limitScenarios(),
		commandScenarios(),
		environmentScenarios(),
		interruptScenarios(),
		sessionScenarios(),
		failureScenarios(),
		agentScenarios(),
		sizeScenarios(),
		webSocketScenarios(),
		permissionScenarios(),
		questionScenarios(),
		planScenarios(),
		ruleScenarios(),
		openScenarios(),
		hookScenarios(),
		eventScenarios(),
		rareScenarios(),
		mcpScenarios(),
		sdkScenarios(),
		transcriptEditScenarios(),
	)
}
