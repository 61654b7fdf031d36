import TomboloAuthentication
import TomboloLocalization
import TomboloModel

/// The values for the template `account_confirm`, the page shown before an account is disabled or enabled.
struct AccountConfirmContent: Sendable {
    let id: String
    let name: String
    let heading: String
    let lines: [String]
    let action: String
    let button: String
    let buttonClass: String

    init(_ details: AccountDetails, isEnabling: Bool) {
        id = details.userID.stringValue
        name = details.name.isEmpty ? details.email ?? id : details.name
        heading = isEnabling ? localized("Enable \(name)?") : localized("Disable \(name)?")
        lines =
            isEnabling
            ? [localized("They may log in again."), localized("Logins that were ended stay ended.")]
            : [
                localized("They are logged out on every device within a second, and can't log in."),
                localized("What they have created stays, and they keep their roles."),
                localized("You can undo this: enable the account again."),
            ]
        action = "\(AccountPages.path)/\(id)/\(isEnabling ? "enable" : "disable")"
        button = isEnabling ? localized("Enable the account") : localized("Disable the account")
        buttonClass = isEnabling ? "main" : "danger"
    }
}
