/// Formats figures as text.
enum Table {
    static func text(_ measurement: Measurement) -> String {
        let hasLimits = measurement.figures.contains { $0.allowed != nil || $0.required != nil }
        let hasLoads = measurement.figures.contains { $0.load != nil }
        let header =
            ["", "median", "least", "greatest", "unit"] + (hasLimits ? ["wanted"] : [])
            + (hasLoads ? ["load", "others"] : [])
        let rows = measurement.figures.map { figure in
            (figure.runs.isEmpty && figure.problem != nil
                ? [figure.name, "failed", "", "", figure.unit]
                : [figure.name, number(figure.median), number(figure.least), number(figure.greatest), figure.unit])
                + (hasLimits ? [limit(figure)] : [])
                + (hasLoads ? [figure.load.map(number) ?? "", figure.othersCPU.map { number($0) + " %" } ?? ""] : [])
        }
        let widths = header.indices.map { column in ([header] + rows).map { $0[column].count }.max() ?? 0 }
        let lines = ([header] + rows).map { row in
            row.indices.map { column in
                let space = String(repeating: " ", count: widths[column] - row[column].count)
                return column == 0 || column == 4 ? row[column] + space : space + row[column]
            }.joined(separator: "  ")
        }
        let load = "load \(number(measurement.loadBefore)) before, \(number(measurement.loadAfter)) after"
        return """
            \(measurement.name): \(measurement.conditions) (\(load))
              \(lines.joined(separator: "\n  "))

            """
    }

    /// The limits of the median; empty if there are none.
    static func limit(_ figure: Figure) -> String {
        figure.allowed.map { "≤ " + number($0) } ?? figure.required.map { "≥ " + number($0) } ?? ""
    }

    /// Three significant digits, but at least all digits before the decimal point.
    static func number(_ value: Double) -> String {
        let size = abs(value)
        let digits = size >= 100 || size == size.rounded() ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3
        var factor = 1.0
        for _ in 0..<digits { factor *= 10 }
        let scaled = Int((size * factor).rounded())
        let whole = grouped(scaled / Int(factor))
        let sign = value < 0 && scaled != 0 ? "-" : ""
        guard digits > 0 else { return sign + whole }
        let fraction = String(scaled % Int(factor))
        return sign + whole + "." + String(repeating: "0", count: digits - fraction.count) + fraction
    }

    private static func grouped(_ value: Int) -> String {
        var text = ""
        for (index, digit) in String(value).reversed().enumerated() {
            if index > 0, index % 3 == 0 { text.append(",") }
            text.append(digit)
        }
        return String(text.reversed())
    }
}
