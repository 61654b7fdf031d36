/// How much a change of a model in the panel may take.
package struct ModelChangeBounds: Sendable {
    /// Of the model and the rules together, in bytes. Larger documents are for `migration-tool`.
    package var documentBytes = 256 << 10
    /// Of the form with both documents, as browsers encode it, in bytes.
    package static let formBytes = 1 << 20
    /// How long making a plan may take.
    package static let planTimeout = Duration.seconds(60)
    /// How long the answer waits for a change to be applied. After that, the page follows it.
    package var answerPatience = Duration.seconds(5)
    /// How often it looks.
    package var lookInterval = Duration.milliseconds(50)
    /// Of a step's SQL that is shown, in bytes.
    package var shownBytes = 4_000

    package init() {}
}
