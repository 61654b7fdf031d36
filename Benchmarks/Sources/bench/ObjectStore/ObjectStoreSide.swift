import ArgumentParser

/// Which implementation does the work.
enum ObjectStoreSide: String, CaseIterable, ExpressibleByArgument, Sendable {
    case tombolo
    case raw
}
