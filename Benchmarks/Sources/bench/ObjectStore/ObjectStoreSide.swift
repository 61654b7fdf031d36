import ArgumentParser

/// Who does the work.
enum ObjectStoreSide: String, CaseIterable, ExpressibleByArgument, Sendable {
    case tombolo
    case raw
}
