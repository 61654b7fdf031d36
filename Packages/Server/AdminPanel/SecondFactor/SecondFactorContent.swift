import TomboloAuthentication
import TomboloLocalization

/// The values for the template `second_factor`: whether one is set up.
struct SecondFactorContent: Sendable {
    let since: Moment?
    let isRequired: Bool
    let isMissing: Bool
    let left: String
    let hasFew: Bool
    let mayRemove: Bool
    let button: String

    /// With fewer recovery codes than this, the page suggests making new ones.
    private static let fewCodes = 3

    init(_ factor: SecondFactor, isRequired: Bool, now: Int64) {
        since = factor.since.map { Moment($0, now: now) }
        self.isRequired = isRequired
        isMissing = isRequired && factor.since == nil
        let count = factor.recoveryCodesLeft
        left = localized(
            count, one: "\(count) recovery code is left.", other: "\(count) recovery codes are left.")
        hasFew = count < Self.fewCodes
        mayRemove = factor.since != nil && !isRequired
        button = factor.since == nil ? localized("Set it up") : localized("Set up another app")
    }
}
