import TomboloAuthentication
import TomboloLocalization
import TomboloModel
import TomboloRules

/// The values for the template `accounts`.
struct AccountsContent: Sendable {
    struct Line: Sendable {
        let id: String
        let name: String
        let email: String
        let state: String
        /// `yes` or `no`, for the style sheet.
        let kind: String
        let logins: Int
        let lastUsed: Moment?
        let made: Moment

        init(_ account: AccountSummary, now: Int64) {
            id = account.userID.stringValue
            name = account.name.isEmpty ? account.email ?? id : account.name
            email = account.email ?? "—"
            state = AccountState.title(isEnabled: account.disabledAt == nil)
            kind = account.disabledAt == nil ? "yes" : "no"
            logins = account.loginCount
            lastUsed = account.lastUsedAt.map { Moment($0, now: now) }
            made = Moment(account.createdAt, now: now)
        }
    }

    let search: String
    let states: [WhyContent.Option]
    let accounts: [Line]
    let page: Int
    let previous: String?
    let next: String?
    /// The page that adds an account.
    var newLink: String?

    init(
        _ found: (accounts: [AccountSummary], hasMore: Bool), search: String, state: AccountState?, page: Int,
        now: Int64
    ) {
        self.search = search
        states =
            [WhyContent.Option(value: "", label: localized("All"), isChosen: state == nil)]
            + AccountState.allCases.map {
                WhyContent.Option(value: $0.rawValue, label: $0.title, isChosen: $0 == state)
            }
        accounts = found.accounts.map { Line($0, now: now) }
        self.page = page
        let query = "search=\(PermissionLinks.escape(search))&state=\(state?.rawValue ?? "")"
        previous = page > 1 ? "/panel/accounts?\(query)&page=\(page - 1)" : nil
        next = found.hasMore ? "/panel/accounts?\(query)&page=\(page + 1)" : nil
    }
}

extension AccountState {
    var title: String { Self.title(isEnabled: self == .enabled) }

    static func title(isEnabled: Bool) -> String { isEnabled ? localized("enabled") : localized("disabled") }
}
