import ArgumentParser

/// `0..<2000` on the command line.
struct SeedRange: ExpressibleByArgument {
    let range: Range<UInt64>

    init(_ range: Range<UInt64>) { self.range = range }

    init?(argument: String) {
        guard let dots = argument.firstRange(of: "..<"), let low = UInt64(argument[..<dots.lowerBound]),
            let high = UInt64(argument[dots.upperBound...]), low < high
        else { return nil }
        range = low..<high
    }

    var defaultValueDescription: String { "\(range.lowerBound)..<\(range.upperBound)" }
}
