import Foundation
import TomboloAuthentication
import TomboloHTTP
import TomboloLocalization
import TomboloModel

/// A setting that super administrators may change in the panel while servers run. An environment variable of the same
/// name takes precedence.
///
/// None of these settings is a secret, since every backup of the database contains their values. And none decides
/// which files, programs, databases or networks a server accesses, so users of the panel can't reach beyond it.
package enum ChangeableSetting: CaseIterable, Sendable {
    case mail
    case address
    case invitationLink
    case secondFactor
    case mapTiles
    case mapAttribution
    case backupInterval
    case keptBackups

    /// The name of the variable, and of the setting in `tombolo.setting`.
    package var name: String {
        switch self {
        case .mail: MailHook.variable
        case .address: AdminAddress.variable
        case .invitationLink: PeopleOptions.linkVariable
        case .secondFactor: SecondFactorPolicy.variable
        case .mapTiles: MapTiles.variable
        case .mapAttribution: MapTiles.attributionVariable
        case .backupInterval: BackupSettings.intervalVariable
        case .keptBackups: BackupSettings.keptVariable
        }
    }

    package init?(name: String) {
        guard let found = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = found
    }

    /// The part of a value that people may see, no longer than a value may be.
    package func shown(_ value: String) -> String {
        let shown = AdminServer.variables.first { $0.name == name }?.shown(value) ?? "set"
        let limit = AuthenticationSchema.maximumSettingByteCount
        return shown.utf8.count <= limit ? shown : shown.shortened(toByteCount: limit - "…".utf8.count)
    }

    /// The values to choose from; nil for free text.
    package var choices: [String]? {
        guard self == .secondFactor else { return nil }
        return SecondFactorPolicy.allCases.filter { $0 != .ignored }.map(\.rawValue)
    }

    /// Whether a default applies if there is no value.
    private var hasDefault: Bool { ![.mail, .address, .mapTiles].contains(self) }

    // MARK: Checking what people enter

    /// Why a text can't be the setting's value in the panel, in the language of its pages; nil if it can. The text
    /// must also be valid as an environment variable. Some values that are valid there are refused here.
    package func problem(with text: String) -> String? {
        let limit = AuthenticationSchema.maximumSettingByteCount
        guard !text.isEmpty else {
            return hasDefault ? localized("Enter a value, or use the default.") : localized("Enter a value.")
        }
        guard text.utf8.count <= limit else { return localized("This is longer than \(limit) bytes.") }
        guard !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
            return localized("Leave out line breaks and other control characters.")
        }
        switch self {
        case .mail where !Self.isAddress(text, schemes: ["https"]):
            return localized("Enter an address that begins with https://, without a user or password.")
        case .invitationLink where !Self.isAddress(text, schemes: ["https", "http"]):
            return localized(
                "Enter an address that begins with https:// or http://, without a user or password.")
        case .backupInterval where !Self.isNumber(text, 0...BackupSchedule.maximumHours):
            return localized(
                "Enter a number of hours from 1 to \(BackupSchedule.maximumHours), or 0 for no automatic backups.")
        case .keptBackups where !Self.isNumber(text, 1...BackupSchedule.maximumKeptCount):
            return localized("Enter a number of backups from 1 to \(BackupSchedule.maximumKeptCount).")
        default: break
        }
        do throws(ConfigurationError) {
            _ = try SettingValues([self: text])
            return nil
        } catch {
            return error.problems.joined(separator: " ")
        }
    }

    private static func isNumber(_ text: String, _ range: ClosedRange<Int>) -> Bool {
        Int(text).map(range.contains) ?? false
    }

    /// Whether a text is a web address with a host.
    private static func isAddress(_ text: String, schemes: [String]) -> Bool {
        guard let parts = LinkAddress.parts(of: text), let scheme = parts.scheme else { return false }
        return schemes.contains(scheme) && parts.user == nil && parts.password == nil
    }
}
