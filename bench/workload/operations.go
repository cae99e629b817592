package workload

import "coatcheck/bench/suite"

// operations are the questions about single operations.
func operations() []suite.Question {
	return []suite.Question{
		pair(),
		churn(),
		read(),
		hot(),
		mix(),
		handoff(),
		burst(),
		sizes(),
		latency(),
		scalePair(),
		scaleRead(),
		scaleMix(),
	}
}
