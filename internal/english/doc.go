// Package english formats counts and lists for English sentences. It imports no
// other package of replan.
package english
