/// Permission to use a route, and why.
struct RouteVerdict<Grant: Sendable>: Sendable {
    let grant: Grant
    /// For people who develop or operate a server; contains no data.
    let reasons: [String]

    /// The reasons as one text, the same in whichever order they were found.
    var reason: String { reasons.sorted().joined(separator: " and ") }
}
