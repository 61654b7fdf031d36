/// A model document that can't be read, with everything that is wrong with it.
public struct ModelDocumentError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The most problems that are told of one document.
    public static let maximumProblemCount = 100

    /// One thing that is wrong.
    public struct Problem: Hashable, Sendable, CustomStringConvertible {
        /// The class, where the problem is in one.
        public let className: String?
        /// The property, where the problem is in one.
        public let property: String?
        /// What was found and what was expected.
        public let message: String
        /// The nearest name to one that nobody knows.
        public let hint: String?

        public init(className: String? = nil, property: String? = nil, message: String, hint: String? = nil) {
            self.className = className
            self.property = property
            self.message = message
            self.hint = hint
        }

        public var description: String {
            let place = [className, property].compactMap(\.self).joined(separator: ".")
            let text = place.isEmpty ? message : "\(place): \(message)"
            return hint.map { "\(text) Did you mean '\($0)'?" } ?? text
        }
    }

    /// At least one, at most ``maximumProblemCount``.
    public let problems: [Problem]
    /// Whether the document was written by a newer version, so that updating this program helps.
    public let isNewerFormat: Bool

    public init(problems: [Problem], isNewerFormat: Bool = false) {
        self.problems = Array(problems.prefix(Self.maximumProblemCount))
        self.isNewerFormat = isNewerFormat
    }

    init(_ message: String, isNewerFormat: Bool = false) {
        self.init(problems: [Problem(message: message)], isNewerFormat: isNewerFormat)
    }

    public var description: String {
        problems.count == 1 ? "\(problems[0])" : problems.map { "- \($0)" }.joined(separator: "\n")
    }
}
