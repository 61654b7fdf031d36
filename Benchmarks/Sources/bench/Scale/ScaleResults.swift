/// Figures by name with all their runs, in the order in which they were first added.
struct ScaleResults {
    private(set) var figures: [Figure] = []

    /// Adds a run of a figure.
    /// - Parameters:
    ///   - allowed: the upper limit for the median.
    ///   - required: the lower limit for the median.
    ///   - usage: the CPU usage meanwhile, if known.
    mutating func add(
        _ name: String, _ unit: String, _ value: Double, allowed: Double? = nil, required: Double? = nil,
        beside usage: ScaleStage.Usage? = nil
    ) {
        let place = figures.firstIndex { $0.name == name } ?? figures.endIndex
        var figure = Figure(name, unit, runs: (place < figures.endIndex ? figures[place].runs : []) + [value])
        if place < figures.endIndex {
            (figure.problem, figure.othersCPU) = (figures[place].problem, figures[place].othersCPU)
        }
        if let usage { figure.othersCPU = max(usage.others, figure.othersCPU ?? 0) }
        (figure.allowed, figure.required, figure.load) = (allowed, required, Machine.loadAverage)
        if place < figures.endIndex { figures[place] = figure } else { figures.append(figure) }
        let others = usage.map { ", others \(Table.number($0.others)) % of a core" } ?? ""
        Lines.say("  \(name): \(Table.number(value)) \(unit) (load \(Table.number(Machine.loadAverage))\(others))")
    }

    /// Records that a run couldn't be measured.
    mutating func fail(_ name: String, _ error: any Error) {
        let place = figures.firstIndex { $0.name == name } ?? figures.endIndex
        if place == figures.endIndex { figures.append(Figure(name, "", runs: [])) }
        figures[place].problem = "\(error)"
        figures[place].load = Machine.loadAverage
        Lines.say("  \(name): \(error)")
    }
}
