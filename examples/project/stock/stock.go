// Package stock knows how many of each thing the shop has.
package stock

// Left returns how many of a thing are left once some are sold.
func Left(had, sold int) int { return max(had-sold, 0) }
