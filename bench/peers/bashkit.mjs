// Prints how long bashkit's analyze() takes for a script: the median of many
// runs, in nanoseconds.
import { readFileSync } from 'node:fs'
import { Bash } from '@everruns/bashkit'

const script = readFileSync(process.argv[2], 'utf8')
const bash = new Bash()
const once = () => {
  const from = process.hrtime.bigint()
  bash.analyze(script)
  return Number(process.hrtime.bigint() - from)
}
for (let i = 0; i < 500; i++) once()
const times = Array.from({ length: 3000 }, once).sort((a, b) => a - b)
console.log(times[times.length >> 1])
