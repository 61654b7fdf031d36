/// Limits on changing a model in the panel.
package struct ModelChangeBounds: Sendable {
    /// The size of the model and the rules together, in bytes. Larger documents need `migration-tool`.
    package var documentBytes = 256 << 10
    /// The size of the form with both documents, as browsers encode it, in bytes.
    package static let formBytes = 1 << 20
    /// The time limit for making a plan.
    package static let planTimeout = Duration.seconds(60)
    /// How long the response waits for a change to be applied. After that, the page shows the progress.
    package var answerPatience = Duration.seconds(5)
    /// How often the waiting response checks.
    package var lookInterval = Duration.milliseconds(50)
    /// How much of a step's SQL is shown, in bytes.
    package var shownBytes = 4_000

    package init() {}
}
