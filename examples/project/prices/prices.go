// Package prices knows what things cost.
package prices

// Total returns what some of a thing cost, in cents.
func Total(each, count int) int { return each * count }
