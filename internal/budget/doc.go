// Package budget limits what sessions use.
package budget
