import Foundation
import TomboloAuthentication
import TomboloLocalization
import TomboloModel
import TomboloRules

/// The values for the template `account`: one account with its login sessions.
struct AccountContent: Sendable {
    struct Session: Sendable {
        let device: String
        let details: String
        let provider: String
        let since: Moment
        let lastUsed: Moment
        let isThisOne: Bool
        let endLink: String?
    }

    struct Toggle: Sendable {
        let label: String
        let link: String
        let isDangerous: Bool
    }

    let id: String
    let name: String
    let email: String
    let state: String
    let kind: String
    let made: Moment
    let disabledAt: Moment?
    /// The state in words, and the button that changes it.
    let verification: String
    let verificationToggle: Toggle?
    /// What the matrix of each app permits users like this one without a role; empty if no matrix mentions it.
    var permissions: [String] = []
    /// Since when a second factor has been set up, in words.
    let secondFactor: String
    /// The page that removes the second factor.
    let secondFactorLink: String?
    /// The action that mails a link to set a password, or the reason why no link can be mailed.
    var passwordLink: String?
    var passwordProblem: String?
    let identities: [String]
    let hasIdentities: Bool
    let grants: [String]
    let hasGrants: Bool
    let customData: String
    let sessions: [Session]
    let mayChange: Bool
    let mayView: Bool
    /// Whether the viewer may open the page that explains permissions.
    var mayExplain = false
    /// Why the viewer may not change this account, although they may change others.
    var refusal: String?
    let toggle: Toggle?
    let endAllLink: String?
    var problem: TrashGroupContent.Problem?

    /// The name of a login provider on pages.
    private static func providerTitle(_ provider: String) -> String {
        provider == "local-userpass" ? localized("Password") : provider
    }

    /// - Parameters:
    ///   - subject: nil for a disabled account.
    ///   - scopes: the titles of the objects that roles are scoped to.
    ///   - own: the viewer's session.
    init(
        _ details: AccountDetails, disabledAt: Date?, subject: Subject?, scopes: [Value: String],
        sessions: [LoginSession],
        own: ObjectId?, mayChange: Bool, mayVerify: Bool, mayView: Bool, isOneself: Bool, now: Int64
    ) {
        let id = details.userID.stringValue
        self.id = id
        name = details.name.isEmpty ? details.email ?? id : details.name
        email = details.email ?? localized("no e-mail address")
        state = AccountState.title(isEnabled: disabledAt == nil)
        kind = disabledAt == nil ? "yes" : "no"
        made = Moment(details.createdAt, now: now)
        self.disabledAt = disabledAt.map { Moment($0, now: now) }
        verification =
            details.verifiedAt.map { localized("verified, \(Moment($0, now: now).exact)") } ?? localized("not verified")
        verificationToggle =
            mayVerify && details.email != nil
            ? details.verifiedAt == nil
                ? Toggle(
                    label: localized("Mark as verified"), link: "/panel/accounts/\(id)/verify", isDangerous: false)
                : Toggle(
                    label: localized("Mark as not verified"), link: "/panel/accounts/\(id)/unverify",
                    isDangerous: false)
            : nil
        secondFactor =
            details.secondFactorAt.map { localized("since \(Moment($0, now: now).exact)") }
            ?? localized("none", context: "second factor")
        secondFactorLink =
            mayChange && !isOneself && details.secondFactorAt != nil
            ? "/panel/accounts/\(id)/second-factor/remove" : nil
        identities = details.identities.map { "\(Self.providerTitle($0.provider)): \($0.identifier)" }
        hasIdentities = !identities.isEmpty
        grants = (subject?.grants ?? []).map { grant in
            let role = localizedName(grant.role.name)
            guard let scope = grant.scope else { return localized("\(role) everywhere") }
            let title = scopes[scope] ?? "\(scope)"
            return localized("\(role) in \(title)")
        }.sorted()
        hasGrants = !grants.isEmpty
        customData = details.customData
        self.mayChange = mayChange
        self.mayView = mayView && !isOneself && disabledAt == nil
        self.sessions = sessions.map { session in
            let details = [session.device.platform, session.device.app].compactMap(\.self).joined(separator: ", ")
            return Session(
                device: session.device.name ?? localized("unnamed device"), details: details,
                provider: Self.providerTitle(session.provider), since: Moment(session.createdAt, now: now),
                lastUsed: Moment(session.lastUsedAt, now: now), isThisOne: session.id == own,
                endLink: mayChange ? "/panel/accounts/\(id)/logins/\(session.id)/end" : nil)
        }
        endAllLink = mayChange && sessions.count > 1 ? "/panel/accounts/\(id)/logins/end" : nil
        // Nobody can lock themselves out.
        toggle =
            mayChange && !isOneself
            ? disabledAt == nil
                ? Toggle(label: localized("Disable…"), link: "/panel/accounts/\(id)/disable", isDangerous: true)
                : Toggle(label: localized("Enable…"), link: "/panel/accounts/\(id)/enable", isDangerous: false)
            : nil
    }
}
