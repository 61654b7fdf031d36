internal import Foundation
import TomboloLocalization

/// What the owner of an account is told by mail, because somebody else may have done it.
enum AccountNotice: Sendable {
    case passwordChanged
    case secondFactorSetUp
    case secondFactorRemoved

    private var purpose: Mail.Purpose {
        switch self {
        case .passwordChanged: .passwordChanged
        case .secondFactorSetUp: .secondFactorSetUp
        case .secondFactorRemoved: .secondFactorRemoved
        }
    }

    private var subject: String {
        switch self {
        case .passwordChanged: localized("Your password was changed")
        case .secondFactorSetUp: localized("A second factor was set up")
        case .secondFactorRemoved: localized("Your second factor was removed")
        }
    }

    /// - Parameter time: in words.
    private func paragraphs(_ time: String) -> [String] {
        switch self {
        case .passwordChanged:
            [
                localized(
                    "The password of your account with this address was changed on \(time). All earlier logins were ended."
                ),
                localized(
                    "If it was you, there is nothing to do. If it wasn't you, set a new password at once with \"Forgot your "
                        + "password?\", and tell the server's operator."),
            ]
        case .secondFactorSetUp:
            [
                localized(
                    "An authenticator app was set up as the second factor of your account with this address on \(time)."
                ),
                localized(
                    "If it was you, there is nothing to do. If it wasn't you, change your password, and tell the server's "
                        + "operator, who can remove the second factor."),
            ]
        case .secondFactorRemoved:
            [
                localized(
                    "The second factor of your account with this address was removed on \(time), by you or by somebody "
                        + "who manages accounts. From now on, your password alone logs you in."),
                localized(
                    "If you didn't expect this, change your password at once, set up a second factor again, and tell the "
                        + "server's operator."),
            ]
        }
    }

    func mail(to email: String, at time: Date) -> Mail {
        let words = time.formatted(
            .iso8601.year().month().day().dateTimeSeparator(.space).time(includingFractionalSeconds: false))
        return Mail(purpose, to: email, subject: subject, paragraphs: paragraphs("\(words) UTC"))
    }
}
