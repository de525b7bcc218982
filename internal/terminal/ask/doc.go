// Package ask shows a question of an agent in a terminal and makes an answer of the keys that a person presses: a permission, a choice, the
// review of a plan, a form or a dialog.
//
// The model is a value in the manner of Bubble Tea. It sends nothing: the model that shows it is given the answer in an AnsweredMsg, and
// tells it what became of that.
package ask
