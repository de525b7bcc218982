// Package budget limits what sessions use. A [State] is the reducer of what holds one session back, and is stored with the rest of its fold; a
// [Ledger] knows the budgets and what all sessions together have used of them; a [Check] holds one session against both, in a step
// of that session: what it decides are entries of the step, so that a restart finds it as it was.
package budget
