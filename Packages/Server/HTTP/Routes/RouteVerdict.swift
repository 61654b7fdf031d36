/// Leave to use a route, and why.
struct RouteVerdict<Grant: Sendable>: Sendable {
    let grant: Grant
    /// For people who develop or look after a server; nothing of the data is in it.
    let reasons: [String]

    /// The same in whichever order they were found.
    var reason: String { reasons.sorted().joined(separator: " and ") }
}
