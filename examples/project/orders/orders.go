// Package orders sells what is in stock at its price.
package orders

import (
	"shop/prices"
	"shop/stock"
)

// Sell returns what some of a thing cost, in cents, and how many are left.
func Sell(had, count, each int) (total, left int) {
	return prices.Total(each, min(count, had)), stock.Left(had, count)
}
