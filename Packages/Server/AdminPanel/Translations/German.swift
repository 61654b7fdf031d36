extension BuiltInTranslations {
    static let german = #"""
        msgid ""
        msgstr ""
        "Language: de\n"
        "X-Language-Name: Deutsch\n"
        "X-Nouns: capitalized\n"
        "Plural-Forms: nplurals=2; plural=(n != 1);\n"
        "Content-Type: text/plain; charset=UTF-8\n"

        # Packages/Server/AdminPanel/API/APIClassContent.swift

        msgid "writable"
        msgstr "schreibbar"

        msgid "read only"
        msgstr "nur lesbar"

        msgid "one of: {0}"
        msgstr "eins von: {0}"

        msgid "yes"
        msgstr "ja"

        msgid "no"
        msgstr "nein"

        msgid "Read"
        msgstr "Lesen"

        msgid "The version of a resource is in the response's ETag header and in meta.version."
        msgstr "Die Version einer Ressource steht im Header ETag der Antwort und in meta.version."

        msgid "Filter and sort"
        msgstr "Filtern und sortieren"

        msgid "Up to {0} filters, all of which must match. 'in' takes up to {1} values, separated by commas. Sort by up to {2} fields; a minus sorts in descending order."
        msgstr "Bis zu {0} Filter, die alle zutreffen müssen. Ein „in“ hat bis zu {1} Werte, durch Kommas getrennt. Sortiert wird nach bis zu {2} Feldern; ein Minus sortiert absteigend."

        msgid "Choose what is returned"
        msgstr "Wählen, was gesendet wird"

        msgid "Up to {0} relationships to include, each up to {1} names deep, separated by dots, and up to {2} included resources."
        msgstr "Bis zu {0} Beziehungen lassen sich einschließen, jede bis zu {1} Namen tief, durch Punkte getrennt, und darüber bis zu {2} Ressourcen."

        msgid "Pages"
        msgstr "Seiten"

        msgid "A page has {0} resources; you can ask for up to {1}. Take the cursor from links.next of the previous page: cursors have no limit. A page number can skip up to {2} resources."
        msgstr "Eine Seite hat {0} Ressourcen, sofern Sie nicht bis zu {1} anfordern. Nehmen Sie einen Cursor aus links.next der vorherigen Seite: Cursor haben keine Grenze. Vor einer Seite mit Nummer dürfen bis zu {2} Ressourcen liegen."

        msgid "Create"
        msgstr "Erstellen"

        msgid "Another object with the same unique values is refused with 409."
        msgstr "Ein weiteres Objekt mit denselben eindeutigen Werten wird mit 409 abgelehnt."

        msgid "Change"
        msgstr "Änderung"

        msgid "The example repeats a value that the object already has, so it changes nothing. Fields that you leave out keep their values. With If-Match, the change is refused with 412 if the object's version differs."
        msgstr "Das Beispiel wiederholt einen Wert, den das Objekt schon hat, ändert also nichts. Felder, die Sie weglassen, bleiben unverändert. Mit If-Match wird die Änderung mit 412 abgelehnt, wenn das Objekt eine andere Version hat."

        msgid "Change links"
        msgstr "Verknüpfungen ändern"

        msgid "PATCH replaces all links of a relationship. For a list, POST appends links and DELETE removes them."
        msgstr "PATCH ersetzt alle Verknüpfungen einer Beziehung. Bei Listen fügt POST am Ende welche hinzu, und DELETE entfernt welche."

        msgid "Remove"
        msgstr "Entfernen"

        msgid "The object moves to the trash with all that belongs to it. The reason is optional."
        msgstr "Das Objekt kommt in den Papierkorb, samt allem, was dazugehört. Der Grund kann entfallen."

        msgid "This can't be undone. DELETE accepts If-Match too."
        msgstr "Das lässt sich nicht rückgängig machen. Auch DELETE akzeptiert If-Match."

        msgid "Replace {0} with the id of an object."
        msgstr "Ersetzen Sie {0} durch die ID eines Objekts."

        msgid "required"
        msgstr "erforderlich"

        msgid "optional"
        msgstr "optional"

        msgid "required in its object"
        msgstr "erforderlich innerhalb seines Objekts"

        # Packages/Server/AdminPanel/API/APIClassPage.swift

        msgid "API: {0}"
        msgstr "API: {0}"

        # Packages/Server/AdminPanel/API/APIPages.swift

        msgid "API"
        msgstr "API"

        msgid "panel"
        msgstr "Panel"

        msgctxt "may …"
        msgid "read"
        msgstr "lesen"

        msgctxt "operation"
        msgid "read"
        msgstr "lesen"

        msgctxt "operation"
        msgid "create"
        msgstr "erstellen"

        msgctxt "operation"
        msgid "update"
        msgstr "ändern"

        msgctxt "operation"
        msgid "trash"
        msgstr "in den Papierkorb legen"

        msgctxt "operation"
        msgid "delete"
        msgstr "löschen"

        # Packages/Server/AdminPanel/Accounts/AccountConfirmContent.swift

        msgid "Enable {0}?"
        msgstr "{0} aktivieren?"

        msgid "Disable {0}?"
        msgstr "{0} deaktivieren?"

        msgid "They may log in again."
        msgstr "Die Person darf sich wieder anmelden."

        msgid "Logins that were ended stay ended."
        msgstr "Beendete Anmeldungen bleiben beendet."

        msgid "They are logged out on every device within a second, and can't log in."
        msgstr "Die Person wird innerhalb einer Sekunde auf allen Geräten abgemeldet und kann sich nicht mehr anmelden."

        msgid "What they have created stays, and they keep their roles."
        msgstr "Was sie erstellt hat, bleibt erhalten, und sie behält ihre Rollen."

        msgid "You can undo this: enable the account again."
        msgstr "Sie können das rückgängig machen: Aktivieren Sie das Konto wieder."

        msgid "Enable the account"
        msgstr "Konto aktivieren"

        msgid "Disable the account"
        msgstr "Konto deaktivieren"

        # Packages/Server/AdminPanel/Accounts/AccountContent.swift

        msgid "Password"
        msgstr "Passwort"

        msgid "no e-mail address"
        msgstr "keine E-Mail-Adresse"

        msgid "verified, {0}"
        msgstr "bestätigt, {0}"

        msgid "not verified"
        msgstr "nicht bestätigt"

        msgid "Mark as verified"
        msgstr "Als bestätigt markieren"

        msgid "Mark as not verified"
        msgstr "Als nicht bestätigt markieren"

        msgid "since {0}"
        msgstr "seit {0}"

        msgctxt "second factor"
        msgid "none"
        msgstr "keiner"

        msgid "{0} everywhere"
        msgstr "{0} überall"

        msgid "{0} in {1}"
        msgstr "{0} in {1}"

        msgid "unnamed device"
        msgstr "Gerät ohne Namen"

        msgid "Disable…"
        msgstr "Deaktivieren…"

        msgid "Enable…"
        msgstr "Aktivieren…"

        # Packages/Server/AdminPanel/Accounts/AccountPages.swift

        msgid "Accounts"
        msgstr "Konten"

        msgid "All other logins were ended."
        msgstr "Alle anderen Anmeldungen wurden beendet."

        msgid "The login was ended."
        msgstr "Die Anmeldung wurde beendet."

        msgid "The account"
        msgstr "Das Konto"

        msgid "{0} may log in again."
        msgstr "{0} darf sich wieder anmelden."

        msgid "{0} is disabled, and was logged out everywhere."
        msgstr "{0} ist deaktiviert und wurde überall abgemeldet."

        msgid "This login has already ended."
        msgstr "Diese Anmeldung ist bereits beendet."

        msgid "There is no such account."
        msgstr "Dieses Konto gibt es nicht."

        msgid "'state' must be enabled or disabled."
        msgstr "„state“ ist weder enabled noch disabled."

        msgid "'search' is longer than any e-mail address."
        msgstr "„search“ ist länger als jede Adresse."

        msgid "You can't disable your own account."
        msgstr "Sie können Ihr eigenes Konto nicht deaktivieren."

        msgid "Another administrator can."
        msgstr "Das kann nur eine andere Person mit Administratorrechten tun."

        msgid "The {0} of this account is in the trash, so the account is disabled."
        msgstr "Das Objekt dieses Kontos ({0}) liegt im Papierkorb, daher ist das Konto deaktiviert."

        msgid "Restore the {0} from the trash."
        msgstr "Stellen Sie das Objekt ({0}) aus dem Papierkorb wieder her."

        # Packages/Server/AdminPanel/Accounts/AccountsContent.swift

        msgid "All"
        msgstr "Alle"

        msgid "enabled"
        msgstr "aktiv"

        msgid "disabled"
        msgstr "deaktiviert"

        # Packages/Server/AdminPanel/Accounts/NewAccountPages.swift

        msgid "Add an account"
        msgstr "Konto hinzufügen"

        msgid "The account was added. A mail with a link to choose a password is on its way to {0}. The link is good for {1} days."
        msgstr "Das Konto wurde hinzugefügt. Eine E-Mail mit einem Link zum Festlegen eines Passworts ist unterwegs an {0}. Der Link ist {1} Tage gültig."

        msgid "The account was added, but no mail could be sent. Press 'Mail a link to set a password' in a moment."
        msgstr "Das Konto wurde hinzugefügt, aber es konnte keine E-Mail verschickt werden. Drücken Sie gleich noch „Link zum Festlegen eines Passworts mailen“."

        msgid "The account was added. It has no password yet: the server's operator can set one with 'migration-tool user password ADDRESS'."
        msgstr "Das Konto wurde hinzugefügt. Es hat kein Passwort: Wer den Server betreibt, legt eines mit „migration-tool user password ADDRESS“ fest."

        msgid "This address already has an account."
        msgstr "Zu dieser Adresse gibt es schon ein Konto."

        # Packages/Server/AdminPanel/Accounts/PasswordLinkPages.swift

        msgid "A mail with a link to set a password is on its way to {0}. The link is good for {1} minutes. Until it's used, the password and all logins stay as they are."
        msgstr "Eine E-Mail mit einem Link zum Festlegen eines Passworts ist unterwegs an {0}. Der Link ist {1} Minuten gültig. Bis er benutzt wird, bleiben das Passwort und alle Anmeldungen, wie sie sind."

        msgid "A disabled account can't get a password link."
        msgstr "Ein deaktiviertes Konto bekommt keinen Link zum Festlegen eines Passworts."

        msgid "Enable the account first."
        msgstr "Aktivieren Sie das Konto zuerst."

        msgid "This account has no e-mail address to mail a link to."
        msgstr "Dieses Konto hat keine E-Mail-Adresse, an die ein Link geschickt werden könnte."

        msgid "Its owner logs in without a password."
        msgstr "Wem es gehört, meldet sich ohne Passwort an."

        msgid "This server can't mail links to set a password: that requires TOMBOLO_MAIL and TOMBOLO_ADMIN_URL."
        msgstr "Dieser Server kann keine Links zum Festlegen eines Passworts mailen: Dafür sind TOMBOLO_MAIL und TOMBOLO_ADMIN_URL nötig."

        msgid "Its operator can set the password with 'migration-tool user password ADDRESS'."
        msgstr "Wer ihn betreibt, kann das Passwort mit „migration-tool user password ADDRESS“ festlegen."

        # Packages/Server/AdminPanel/Audit/AuditPages.swift

        msgid "Audit log"
        msgstr "Änderungsprotokoll"

        msgid "History of {0}"
        msgstr "Verlauf: {0}"

        msgid "The {0} was created again."
        msgstr "Neu erstellt: {0}."

        msgid "Nothing was changed: it's already like this."
        msgstr "Nichts wurde geändert: Der Stand ist schon so."

        msgid "Put back: {0}. The history shows it within a second."
        msgstr "Zurückgesetzt: {0}. Der Verlauf zeigt es innerhalb einer Sekunde."

        msgid "Undo"
        msgstr "Rückgängig machen"

        # Packages/Server/AdminPanel/Audit/AuditText.swift

        msgctxt "operation"
        msgid "restore"
        msgstr "wiederherstellen"

        msgctxt "operation"
        msgid "baseline"
        msgstr "Anfangsbestand"

        msgctxt "operation"
        msgid "gap"
        msgstr "Lücke"

        msgctxt "source"
        msgid "http"
        msgstr "HTTP"

        msgctxt "source"
        msgid "sync"
        msgstr "Sync"

        msgctxt "source"
        msgid "sql"
        msgstr "SQL"

        msgctxt "source"
        msgid "system"
        msgstr "System"

        msgid "Created"
        msgstr "Erstellt"

        msgid "Changed"
        msgstr "Geändert"

        msgid "Deleted permanently"
        msgstr "Endgültig gelöscht"

        msgid "Moved to the trash"
        msgstr "In den Papierkorb gelegt"

        msgid "Restored from the trash"
        msgstr "Aus dem Papierkorb wiederhergestellt"

        msgid "Existed when the log began"
        msgstr "Gab es schon, als das Protokoll begann"

        msgid "The log begins here, or has no record of earlier changes"
        msgstr "Das Protokoll beginnt hier, oder es fehlt, was davor geschah"

        msgid "Created {0}"
        msgstr "Erstellt {0}"

        msgid "Changed {0}"
        msgstr "Geändert {0}"

        msgid "Deleted permanently {0}"
        msgstr "Endgültig gelöscht {0}"

        msgid "Moved to the trash {0}"
        msgstr "In den Papierkorb gelegt {0}"

        msgid "Restored from the trash {0}"
        msgstr "Aus dem Papierkorb wiederhergestellt {0}"

        msgid "job {0}"
        msgstr "Auftrag {0}"

        msgid "user {0}"
        msgstr "Benutzer {0}"

        msgid "the server"
        msgstr "der Server"

        msgid "a device"
        msgstr "ein Gerät"

        msgid "somebody who isn't logged in"
        msgstr "jemand ohne Anmeldung"

        msgid "plain SQL ({0})"
        msgstr "direktes SQL ({0})"

        msgid "by {0}"
        msgstr "von {0}"

        msgid "by user {0}"
        msgstr "von Benutzer {0}"

        msgid "by the server"
        msgstr "vom Server"

        msgid "by a device"
        msgstr "von einem Gerät"

        msgid "by somebody who isn't logged in"
        msgstr "von jemandem ohne Anmeldung"

        msgid "by plain SQL ({0})"
        msgstr "direkt mit SQL ({0})"

        msgid "a service"
        msgstr "ein Dienst"

        msgid "over HTTP"
        msgstr "über HTTP"

        msgid "by sync, device {0}"
        msgstr "über Sync, Gerät {0}"

        msgid "by sync, device unknown"
        msgstr "über Sync, Gerät unbekannt"

        msgid "with SQL"
        msgstr "mit SQL"

        msgid "from {0}"
        msgstr "von {0}"

        msgid "secret"
        msgstr "geheim"

        msgid "none"
        msgstr "leer"

        msgid "empty text"
        msgstr "leerer Text"

        msgid "A field of the form isn't JSON."
        msgstr "Ein Feld des Formulars ist kein JSON."

        # Packages/Server/AdminPanel/Backups/BackupPages.swift

        msgid "A backup is being made."
        msgstr "Eine Sicherung wird erstellt."

        msgid "The backup {0} was deleted."
        msgstr "Die Sicherung {0} wurde gelöscht."

        msgid "Backups"
        msgstr "Sicherungen"

        msgid "Delete {0}?"
        msgstr "{0} löschen?"

        msgid "You are viewing the panel as {0}, and backups can only be seen as yourself."
        msgstr "Sie sehen das Panel als {0} an, und Sicherungen sind nur im eigenen Namen zugänglich."

        msgid "Stop viewing as {0} first: the button is at the top of every page."
        msgstr "Beenden Sie zuerst das Ansehen als {0}: Die Schaltfläche steht oben auf jeder Seite."

        msgid "Backups are off on this server."
        msgstr "Auf diesem Server sind Sicherungen ausgeschaltet."

        msgid "To turn them on, set {0} and {1}."
        msgstr "{0} und {1} schalten sie ein."

        # Packages/Server/AdminPanel/Backups/BackupsContent.swift

        msgid "unknown"
        msgstr "unbekannt"

        msgid "Done. The previous database is now called {0}."
        msgstr "Fertig. Was bis dahin benutzt wurde, heißt jetzt {0}."

        msgid "Done."
        msgstr "Fertig."

        msgid "{0} is being restored."
        msgstr "{0} wird wiederhergestellt."

        msgid "{0} is being restored: checking privileges."
        msgstr "{0} wird wiederhergestellt: Rechte werden geprüft."

        msgid "{0} is being restored: making a new database."
        msgstr "{0} wird wiederhergestellt: Eine neue Datenbank wird angelegt."

        msgid "{0} is being restored: filling the new database. The server stays available."
        msgstr "{0} wird wiederhergestellt: Die neue Datenbank wird gefüllt. Alles läuft solange weiter."

        msgid "{0} is being restored: preparing the new database."
        msgstr "{0} wird wiederhergestellt: Die neue Datenbank wird vorbereitet."

        msgid "{0} is being restored: swapping the databases."
        msgstr "{0} wird wiederhergestellt: Die Datenbanken tauschen die Plätze."

        msgid "restoring"
        msgstr "Wiederherstellung"

        msgid "Since {0}, by the schedule."
        msgstr "Seit {0}, nach Zeitplan."

        msgid "Since {0}, by {1}."
        msgstr "Seit {0}, von {1}."

        msgid "running"
        msgstr "läuft"

        msgid "waiting"
        msgstr "wartet"

        msgid "It begins in a moment."
        msgstr "Sie beginnt gleich."

        msgid "No backups are made automatically."
        msgstr "Automatisch werden keine Sicherungen erstellt."

        msgid "every hour"
        msgstr "jede Stunde"

        msgid "every {0} hour"
        msgid_plural "every {0} hours"
        msgstr[0] "alle {0} Stunden"
        msgstr[1] "alle {0} Stunden"

        msgid "Automatically {0}: the newest one is kept."
        msgstr "Automatisch {0}; die neueste wird behalten."

        msgid "Automatically {0}: the newest {1} is kept."
        msgid_plural "Automatically {0}: the newest {1} are kept."
        msgstr[0] "Automatisch {0}; die neueste davon wird behalten."
        msgstr[1] "Automatisch {0}; die neuesten {1} davon werden behalten."

        msgid "the schedule"
        msgstr "Zeitplan"

        msgid "{0} s"
        msgstr "{0} s"

        msgid "{0} min {1} s"
        msgstr "{0} min {1} s"

        # Packages/Server/AdminPanel/Backups/RestorePages.swift

        msgid "The database {0} was deleted."
        msgstr "Die Datenbank {0} wurde gelöscht."

        msgid "This server can't restore backups."
        msgstr "Dieser Server stellt keine Sicherungen wieder her."

        msgid "Set {0} to turn it on: see docs/backups.md."
        msgstr "{0} schaltet es ein; die Schritte stehen in docs/backups.md."

        msgid "Restore {0}?"
        msgstr "{0} wiederherstellen?"

        msgid "According to the audit log, nothing has changed since then."
        msgstr "Seitdem wurde nichts geändert, soweit das Änderungsprotokoll weiß."

        msgid "More than {0} changes have been made since then."
        msgstr "Seitdem gab es mehr als {0} Änderungen."

        msgid "{0} change has been made since then."
        msgid_plural "{0} changes have been made since then."
        msgstr[0] "Seitdem gab es {0} Änderung."
        msgstr[1] "Seitdem gab es {0} Änderungen."

        # Packages/Server/AdminPanel/Custom/PanelRequest+Objects.swift

        msgid "Pages may not change data."
        msgstr "Eine Seite ändert nichts."

        msgid "Register an action for that."
        msgstr "Registrieren Sie dafür eine Aktion."

        msgid "There is no class '{0}'."
        msgstr "Es gibt keine Klasse „{0}“."

        # Packages/Server/AdminPanel/Devices/DeviceAnswers.swift

        msgid "None of the user's devices is connected to any gateway."
        msgstr "Keines der Geräte des Benutzers ist mit einem Gateway verbunden."

        msgid "None of the user's devices is connected to a gateway that answered."
        msgstr "Keines der Geräte des Benutzers ist mit einem Gateway verbunden, das geantwortet hat."

        msgid "The device isn't connected to any gateway."
        msgstr "Das Gerät ist mit keinem Gateway verbunden."

        msgid "The device isn't connected to a gateway that answered."
        msgstr "Das Gerät ist mit keinem Gateway verbunden, das geantwortet hat."

        msgid "It was last seen on {0}."
        msgstr "Zuletzt gesehen wurde es am {0}."

        msgid "No gateway has ever seen it."
        msgstr "Kein Gateway hat es je gesehen."

        msgid "A device gets what it's missing when it connects."
        msgstr "Ein Gerät bekommt, was ihm fehlt, wenn es sich verbindet."

        msgid "There may be a connection to {0}."
        msgstr "Vielleicht besteht eine Verbindung zu {0}."

        # Packages/Server/AdminPanel/Devices/DevicePages.swift

        msgid "Sync devices"
        msgstr "Sync-Geräte"

        msgid "All devices"
        msgstr "Alle Geräte"

        msgid "A connected device"
        msgstr "Ein verbundenes Gerät"

        msgid "objects"
        msgstr "Objekte"

        msgid "Why is an object missing?"
        msgstr "Warum fehlt ein Objekt?"

        msgid "This gateway is no longer running."
        msgstr "Dieses Gateway läuft nicht mehr."

        msgid "Its devices have moved to another gateway."
        msgstr "Seine Geräte haben sich mit einem anderen verbunden."

        msgid "The gateway {0} doesn't answer."
        msgstr "Das Gateway {0} antwortet nicht."

        msgid "Try again, or check whether it's running."
        msgstr "Versuchen Sie es noch einmal, oder prüfen Sie, ob es läuft."

        msgid "Enter a user or a device."
        msgstr "Geben Sie einen Benutzer oder ein Gerät ein."

        msgid "Gateways answer only you, not the person you're viewing the panel as."
        msgstr "Gateways antworten nur Ihnen selbst, nicht der Person, als die Sie das Panel ansehen."

        msgid "Stop viewing as {0} to ask them."
        msgstr "Beenden Sie das Ansehen als {0}, um sie zu fragen."

        msgid "No account has this address or id."
        msgstr "Kein Konto hat diese Adresse oder ID."

        msgid "The list of accounts has both."
        msgstr "Die Liste der Konten enthält beides."

        # Packages/Server/AdminPanel/Devices/DeviceSessionContent.swift

        msgid "{0}: {1}, version {2}"
        msgstr "{0}: {1}, Version {2}"

        msgid "and {0} more"
        msgstr "und {0} weitere"

        msgid "not known yet"
        msgstr "noch nicht bekannt"

        msgid "not authenticated yet"
        msgstr "noch nicht zugelassen"

        msgid "Device"
        msgstr "Gerät"

        msgid "User"
        msgstr "Benutzer"

        msgid "Gateway"
        msgstr "Gateway"

        msgid "Address"
        msgstr "Adresse"

        msgid "State"
        msgstr "Status"

        msgid "Connected for"
        msgstr "Verbunden seit"

        msgid "Model"
        msgstr "Modell"

        msgid "Partition"
        msgstr "Partition"

        msgid "Has everything up to tick"
        msgstr "Hat alles bis Tick"

        msgid "Behind"
        msgstr "Rückstand"

        msgid "Batches not applied yet"
        msgstr "Noch nicht angewendete Pakete"

        msgid "Follows changes live"
        msgstr "Folgt Änderungen laufend"

        msgid "Changesets"
        msgstr "Changesets"

        msgid "Connection"
        msgstr "Verbindung"

        msgid "Reading a batch for it"
        msgstr "Ein Paket wird dafür gelesen"

        msgid "Subscriptions"
        msgstr "Abonnements"

        msgid "Subscriptions waiting for the current batch"
        msgstr "Abonnements, die auf das laufende Paket warten"

        msgid "{0} received, {1} acknowledged, {2} waiting, {3} under way"
        msgstr "{0} empfangen, {1} bestätigt, {2} wartend, {3} in Arbeit"

        msgid "{0} bytes pending, {1} bytes spooled"
        msgstr "{0} Bytes ausstehend, {1} Bytes ausgelagert"

        msgid "{0} bytes pending, {1} bytes spooled, not accepting data"
        msgstr "{0} Bytes ausstehend, {1} Bytes ausgelagert, nimmt derzeit nichts an"

        # Packages/Server/AdminPanel/Devices/DeviceWhyContent.swift

        msgid "available to this device"
        msgstr "für dieses Gerät verfügbar"

        msgid "not available to this device"
        msgstr "für dieses Gerät nicht verfügbar"

        msgid "Connected devices that aren't shown: {0}. Ask about one of them by its id."
        msgstr "Verbundene Geräte, die nicht angezeigt werden: {0}. Fragen Sie mit der ID nach einem davon."

        msgid "not connected"
        msgstr "nicht verbunden"

        msgid "connected"
        msgstr "verbunden"

        msgid "{0} at {1}"
        msgstr "{0} bei {1}"

        msgid "{0} at {1}, tick {2}"
        msgstr "{0} bei {1}, Tick {2}"

        # Packages/Server/AdminPanel/Devices/DeviceWords.swift

        msgctxt "state of a device"
        msgid "waiting"
        msgstr "wartet"

        msgctxt "state of a device"
        msgid "authenticating"
        msgstr "meldet sich an"

        msgctxt "state of a device"
        msgid "opening"
        msgstr "öffnet"

        msgctxt "state of a device"
        msgid "verifying"
        msgstr "prüft"

        msgctxt "state of a device"
        msgid "reading"
        msgstr "liest"

        msgctxt "state of a device"
        msgid "live"
        msgstr "live"

        msgctxt "state of a device"
        msgid "closed"
        msgstr "geschlossen"

        msgid "{0}.{1} s"
        msgstr "{0},{1} s"

        msgid "{0} tick, {1}"
        msgid_plural "{0} ticks, {1}"
        msgstr[0] "{0} Tick, {1}"
        msgstr[1] "{0} Ticks, {1}"

        msgid "{0} min"
        msgstr "{0} min"

        msgid "{0} h {1} min"
        msgstr "{0} h {1} min"

        msgid "{0} d {1} h"
        msgstr "{0} d {1} h"

        msgid "{0} and {1}"
        msgstr "{0} und {1}"

        # Packages/Server/AdminPanel/Devices/DevicesContent.swift

        msgid "{0} connected device"
        msgid_plural "{0} connected devices"
        msgstr[0] "{0} verbundenes Gerät"
        msgstr[1] "{0} verbundene Geräte"

        msgid "answers"
        msgstr "antwortet"

        msgid "refuses"
        msgstr "lehnt ab"

        msgid "doesn't answer"
        msgstr "antwortet nicht"

        msgid "isn't there"
        msgstr "ist nicht da"

        msgid "No gateway is running on this database."
        msgstr "Für diese Datenbank läuft kein Gateway."

        msgid "Start sync-gateway. A new gateway appears here within a few seconds."
        msgstr "Starten Sie sync-gateway. Ein gerade gestartetes erscheint hier innerhalb weniger Sekunden."

        msgid "No answer from {0} within {1} seconds. Devices connected there are missing from this page."
        msgstr "Keine Antwort von {0} innerhalb von {1} Sekunden. Die dort verbundenen Geräte fehlen."

        msgid "When a gateway is killed, its devices connect to another one. This page stops asking a killed gateway after {0} seconds."
        msgstr "Wurde ein Gateway hart beendet, verbinden sich seine Geräte mit einem anderen, und nach {0} Sekunden wird es nicht mehr gefragt."

        msgid "{0} stopped without signing off, or can't reach the database, so it wasn't asked."
        msgstr "{0}: ohne Abmeldung beendet oder ohne Verbindung zur Datenbank, deshalb nicht gefragt."

        msgid "No other gateway is running."
        msgstr "Es läuft kein anderes Gateway."

        # Packages/Server/AdminPanel/Documents/Changing/ModelChangeContent.swift

        msgid "text"
        msgstr "Text"

        msgid "whole number"
        msgstr "ganze Zahl"

        msgid "number with a fraction"
        msgstr "Zahl mit Nachkommastellen"

        msgid "exact decimal number"
        msgstr "exakte Dezimalzahl"

        msgid "yes or no"
        msgstr "ja oder nein"

        msgid "date and time"
        msgstr "Datum mit Uhrzeit"

        msgid "bytes"
        msgstr "Bytes"

        msgid "whole number, 32 bits"
        msgstr "ganze Zahl, 32 Bit"

        msgid "whole number, 16 bits"
        msgstr "ganze Zahl, 16 Bit"

        msgid "whole number, 8 bits"
        msgstr "ganze Zahl, 8 Bit"

        msgid "number with a fraction, 32 bits"
        msgstr "Zahl mit Nachkommastellen, 32 Bit"

        msgid "list of {0}"
        msgstr "Liste von {0}"

        msgid "link to {0}"
        msgstr "Verknüpfung mit {0}"

        msgid "list of links to {0}"
        msgstr "Liste von Verknüpfungen mit {0}"

        msgid "embedded {0}"
        msgstr "eingebettet: {0}"

        msgid "list of embedded {0}"
        msgstr "Liste, eingebettet: {0}"

        # Packages/Server/AdminPanel/Documents/Changing/ModelChangeForm.swift

        msgid "The texts have {0} bytes together. The limit here is {1}: use 'migration-tool apply' for larger ones."
        msgstr "Die Texte haben zusammen {0} Bytes. Hier sind höchstens {1} möglich: Verwenden Sie für größere „migration-tool apply“."

        msgid "The file {0} isn't UTF-8 text, so the text was left unchanged."
        msgstr "Die Datei {0} ist kein Text in UTF-8, daher bleibt der Text, wie er war."

        # Packages/Server/AdminPanel/Documents/Changing/ModelChangePage.swift

        msgid "This is wrong:"
        msgstr "Das ist falsch:"

        msgid "These are wrong:"
        msgstr "Das alles ist falsch:"

        msgid "Change the model of {0}"
        msgstr "Das Modell von {0} ändern"

        msgid "One of the small forms is filled in and wasn't used. Press its button, or clear it."
        msgstr "Eines der kleinen Formulare ist ausgefüllt, wurde aber nicht verwendet. Klicken Sie auf seine Schaltfläche, oder leeren Sie es."

        msgid "There is nothing to change: this is what is already in use."
        msgstr "Nichts ist anders als das, was in Gebrauch ist."

        msgid "What would happen"
        msgstr "Was geschehen würde"

        msgid "Somebody has changed the models or the rules since you began, and your text doesn't include those changes."
        msgstr "Jemand hat die Modelle oder die Regeln geändert, seit Sie begonnen haben, und in Ihrem Text fehlt das."

        msgid "Copy what you need into your text, then continue. The text is stored exactly as it stands."
        msgstr "Übernehmen Sie davon in Ihren Text, was Sie brauchen, und fahren Sie dann fort. Gespeichert wird, was im Text steht."

        msgid "The database has changed since you saw the plan. Nothing was done: this is what would happen now."
        msgstr "Seit Sie den Plan gesehen haben, hat sich in der Datenbank etwas geändert. Es wurde nichts ausgeführt: Das würde jetzt geschehen."

        msgid "There is no app with that name."
        msgstr "Es gibt keine App mit diesem Namen."

        msgid "The page Model and rules lists the apps."
        msgstr "Die Seite „Modell und Regeln“ enthält die Apps."

        msgid "The app has no rules."
        msgstr "Die App hat keine Regeln."

        # Packages/Server/AdminPanel/Documents/Changing/ModelChangePages.swift

        msgid "Changing the model"
        msgstr "Änderung des Modells"

        msgid "You are viewing the panel as {0}, who can't change models."
        msgstr "Sie sehen das Panel als {0} an, und Modelle lassen sich nur im eigenen Namen ändern."

        # Packages/Server/AdminPanel/Documents/Changing/ModelPlanContent.swift

        msgid "The model's text"
        msgstr "Text des Modells"

        msgid "The rules' text"
        msgstr "Text der Regeln"

        msgid "From then on, these rules decide who may do what, and that includes you. If they take the permission matrix away from every super administrator, only somebody with the database's password can bring it back, with migration-tool apply --replace-boxes."
        msgstr "Diese Regeln entscheiden von da an, wer was darf, auch über Sie. Nehmen sie allen mit oberster Verwaltung die Rechtematrix, kann sie nur zurückbringen, wer das Passwort der Datenbank hat, mit migration-tool apply --replace-boxes."

        msgid "{0}: at least {1} row has it."
        msgid_plural "{0}: at least {1} rows have it."
        msgstr[0] "{0}: in mindestens {1} Zeile vorhanden."
        msgstr[1] "{0}: in mindestens {1} Zeilen vorhanden."

        msgid "{0}: {1} row has it."
        msgid_plural "{0}: {1} rows have it."
        msgstr[0] "{0}: in {1} Zeile vorhanden."
        msgstr[1] "{0}: in {1} Zeilen vorhanden."

        msgid "{0}: at least {1} row"
        msgid_plural "{0}: at least {1} rows"
        msgstr[0] "{0}: mindestens {1} Zeile"
        msgstr[1] "{0}: mindestens {1} Zeilen"

        msgid "{0}: {1} row"
        msgid_plural "{0}: {1} rows"
        msgstr[0] "{0}: {1} Zeile"
        msgstr[1] "{0}: {1} Zeilen"

        msgid "The texts are too long or too different to compare line by line."
        msgstr "Die Texte sind zu lang oder zu verschieden, um sie zeilenweise zu vergleichen."

        msgid "Lines added: {0}. Lines removed: {1}."
        msgstr "Zeilen hinzugefügt: {0}. Zeilen entfernt: {1}."

        # Packages/Server/AdminPanel/Documents/Changing/ModelRunContent.swift

        msgid "Step {0} of {1}: {2}"
        msgstr "Schritt {0} von {1}: {2}"

        # Packages/Server/AdminPanel/Documents/Changing/ModelWish.swift

        msgid "The class {0} was added to the text."
        msgstr "Die Klasse {0} wurde im Text hinzugefügt."

        msgid "Choose the class of the new property."
        msgstr "Wählen Sie die Klasse der neuen Eigenschaft."

        msgid "{0}.{1} was added to the text."
        msgstr "{0}.{1} wurde im Text hinzugefügt."

        msgid "Choose the property to rename."
        msgstr "Wählen Sie die Eigenschaft, die umbenannt werden soll."

        msgid "{0} is now called {1} in the text. Rules that name it must be changed too."
        msgstr "{0} heißt im Text nun {1}. Regeln, die den Namen verwenden, müssen ebenfalls geändert werden."

        msgid "Choose what to drop."
        msgstr "Wählen Sie, was entfernt werden soll."

        msgid "{0} was removed from the text. Its values stay in the database."
        msgstr "{0} wurde aus dem Text entfernt. Die Werte bleiben in der Datenbank."

        msgid "Every object in Swift has a member called '{0}'. Choose another name."
        msgstr "Jedes Objekt in Swift hat ein Element namens „{0}“. Wählen Sie einen anderen Namen."

        msgid "Choose the type of the new property."
        msgstr "Wählen Sie den Typ der neuen Eigenschaft."

        msgid "The possible values of a whole number must be whole numbers."
        msgstr "Die Werte einer ganzen Zahl sind ganze Zahlen."

        msgid "Enter at most {0} different values, each of at most {1} bytes."
        msgstr "Geben Sie höchstens {0} Werte an, keinen doppelt und keinen mit mehr als {1} Bytes."

        # Packages/Server/AdminPanel/Documents/DocumentContent.swift

        msgid "The models of {0}"
        msgstr "Die Modelle von {0}"

        msgid "The rules of {0}"
        msgstr "Die Regeln von {0}"

        msgid "Version {0}"
        msgstr "Version {0}"

        msgid "What changed in the models of {0}"
        msgstr "Änderungen an den Modellen von {0}"

        msgid "What changed in the rules of {0}"
        msgstr "Änderungen an den Regeln von {0}"

        msgid "Version {0} compared with version {1}"
        msgstr "Version {0} im Vergleich mit Version {1}"

        msgid "Nothing changed: the texts are the same."
        msgstr "Nichts hat sich geändert: Die Texte sind gleich."

        msgid "{0} line was added, {1} removed."
        msgid_plural "{0} lines were added, {1} removed."
        msgstr[0] "{0} Zeile hinzugefügt, {1} entfernt."
        msgstr[1] "{0} Zeilen hinzugefügt, {1} entfernt."

        # Packages/Server/AdminPanel/Documents/DocumentPages.swift

        msgid "Model and rules"
        msgstr "Modell und Regeln"

        msgid "There is no such version, or nothing to compare to."
        msgstr "Diese Version gibt es nicht, oder keine, mit der sie sich vergleichen lässt."

        msgid "The history lists all versions."
        msgstr "Der Verlauf enthält alle Versionen."

        # Packages/Server/AdminPanel/Documents/DocumentsContent.swift

        msgid "models"
        msgstr "Modelle"

        msgid "rules"
        msgstr "Regeln"

        msgid "a tool"
        msgstr "ein Werkzeug"

        msgid "{0} class"
        msgid_plural "{0} classes"
        msgstr[0] "{0} Klasse"
        msgstr[1] "{0} Klassen"

        msgid "{0} app"
        msgid_plural "{0} apps"
        msgstr[0] "{0} App"
        msgstr[1] "{0} Apps"

        msgid "This server has loaded version {0}: {1} in {2}."
        msgstr "Dieser Server hat Version {0} geladen: {1} in {2}."

        # Packages/Server/AdminPanel/Formatting/Counted.swift

        msgctxt "number of a class"
        msgid "{0} {1}"
        msgstr "{0} {1}"

        msgid "{0} object"
        msgid_plural "{0} objects"
        msgstr[0] "{0} Objekt"
        msgstr[1] "{0} Objekte"

        # Packages/Server/AdminPanel/Formatting/Moment.swift

        msgid "just now"
        msgstr "gerade eben"

        msgid "{0} year ago"
        msgid_plural "{0} years ago"
        msgstr[0] "vor {0} Jahr"
        msgstr[1] "vor {0} Jahren"

        msgid "in {0} year"
        msgid_plural "in {0} years"
        msgstr[0] "in {0} Jahr"
        msgstr[1] "in {0} Jahren"

        msgid "{0} month ago"
        msgid_plural "{0} months ago"
        msgstr[0] "vor {0} Monat"
        msgstr[1] "vor {0} Monaten"

        msgid "in {0} month"
        msgid_plural "in {0} months"
        msgstr[0] "in {0} Monat"
        msgstr[1] "in {0} Monaten"

        msgid "{0} day ago"
        msgid_plural "{0} days ago"
        msgstr[0] "vor {0} Tag"
        msgstr[1] "vor {0} Tagen"

        msgid "in {0} day"
        msgid_plural "in {0} days"
        msgstr[0] "in {0} Tag"
        msgstr[1] "in {0} Tagen"

        msgid "{0} hour ago"
        msgid_plural "{0} hours ago"
        msgstr[0] "vor {0} Stunde"
        msgstr[1] "vor {0} Stunden"

        msgid "in {0} hour"
        msgid_plural "in {0} hours"
        msgstr[0] "in {0} Stunde"
        msgstr[1] "in {0} Stunden"

        msgid "{0} minute ago"
        msgid_plural "{0} minutes ago"
        msgstr[0] "vor {0} Minute"
        msgstr[1] "vor {0} Minuten"

        msgid "in {0} minute"
        msgid_plural "in {0} minutes"
        msgstr[0] "in {0} Minute"
        msgstr[1] "in {0} Minuten"

        # Packages/Server/AdminPanel/Formatting/PanelValues.swift

        msgid "'page' must be a number from 1 to {0}."
        msgstr "„page“ ist keine Zahl von 1 bis {0}."

        # Packages/Server/AdminPanel/Forms/EnteredValues.swift

        msgid "Row"
        msgstr "Zeile"

        # Packages/Server/AdminPanel/Forms/FormPart+Values.swift

        msgid "It's already in the list."
        msgstr "Das steht schon in der Liste."

        msgid "Choose another one."
        msgstr "Wählen Sie etwas anderes."

        # Packages/Server/AdminPanel/Forms/FormRenderer.swift

        msgid "The form has something unexpected at '{0}'."
        msgstr "Das Formular hat bei „{0}“ etwas anderes."

        # Packages/Server/AdminPanel/Forms/FormValues.swift

        msgid "The form doesn't say how many elements '{0}' has, or there are more than {1}."
        msgstr "Das Formular gibt nicht an, wie viele Elemente „{0}“ hat, oder es sind mehr als {1}."

        msgid "Load the form again."
        msgstr "Laden Sie das Formular neu."

        # Packages/Server/AdminPanel/Imports/ImportPage.swift

        msgid "The file"
        msgstr "Die Datei"

        msgid "Line"
        msgstr "Zeile"

        msgid "Import {0}"
        msgstr "{0} importieren"

        msgid "All new ones"
        msgstr "Alle neuen"

        msgid "All rows were read, and the first {0} were tried against the data. Others may still turn out to be unchanged or have errors."
        msgstr "Alle Zeilen wurden gelesen und die ersten {0} an den Daten geprüft: Andere können sich noch als unverändert oder fehlerhaft erweisen."

        msgid "{0} row to create"
        msgid_plural "{0} rows to create"
        msgstr[0] "{0} neue Zeile"
        msgstr[1] "{0} neue Zeilen"

        msgid "{0} row to update"
        msgid_plural "{0} rows to update"
        msgstr[0] "{0} zu aktualisierende Zeile"
        msgstr[1] "{0} zu aktualisierende Zeilen"

        msgid "{0} row unchanged"
        msgid_plural "{0} rows unchanged"
        msgstr[0] "{0} unveränderte Zeile"
        msgstr[1] "{0} unveränderte Zeilen"

        msgid "{0} row with errors"
        msgid_plural "{0} rows with errors"
        msgstr[0] "{0} Zeile mit Fehlern"
        msgstr[1] "{0} Zeilen mit Fehlern"

        msgid "Update"
        msgstr "Aktualisieren"

        msgid "Unchanged"
        msgstr "Unverändert"

        msgid "Error"
        msgstr "Fehler"

        msgid "{0} row"
        msgid_plural "{0} rows"
        msgstr[0] "{0} Zeile"
        msgstr[1] "{0} Zeilen"

        # Packages/Server/AdminPanel/Imports/ImportPages.swift

        msgid "whatever the file uses"
        msgstr "automatisch erkannt"

        msgid "commas"
        msgstr "Komma"

        msgid "semicolons"
        msgstr "Semikolon"

        msgid "tabs"
        msgstr "Tabulator"

        msgctxt "may …"
        msgid "create or update"
        msgstr "erstellen oder ändern"

        msgid "There is no such import."
        msgstr "Diesen Import gibt es nicht."

        msgid "Jobs lists the ones you have."
        msgstr "Unter „Aufträge“ stehen Ihre Importe."

        msgid "No file was chosen."
        msgstr "Es wurde keine Datei ausgewählt."

        msgid "Choose one."
        msgstr "Wählen Sie eine aus."

        # Packages/Server/AdminPanel/Imports/MultipartDecoder.swift

        msgid "Go back, load the page again, and send the form again."
        msgstr "Gehen Sie zurück, laden Sie die Seite neu und senden Sie das Formular noch einmal."

        msgid "The form is incomplete."
        msgstr "Das Formular bricht ab."

        msgid "The form doesn't begin with its boundary."
        msgstr "Das Formular beginnt nicht mit seiner Boundary."

        msgid "The form has a malformed boundary."
        msgstr "Das Formular hat eine ungültige Boundary."

        msgid "A part of the form has a header longer than {0} bytes."
        msgstr "Ein Teil des Formulars hat einen Header mit mehr als {0} Bytes."

        msgid "The form has more than {0} parts."
        msgstr "Das Formular hat mehr als {0} Teile."

        msgid "A part of the form has a header that isn't UTF-8."
        msgstr "Ein Teil des Formulars hat einen Header, der kein UTF-8 ist."

        msgid "A part of the form has no name."
        msgstr "Ein Teil des Formulars hat keinen Namen."

        # Packages/Server/AdminPanel/Imports/PanelUpload.swift

        msgid "The form has more than {0} bytes."
        msgstr "Das Formular hat mehr als {0} Bytes."

        msgid "Send a smaller file."
        msgstr "Senden Sie eine kleinere Datei."

        msgid "A field of the form has more than {0} bytes."
        msgstr "Ein Feld des Formulars hat mehr als {0} Bytes."

        # Packages/Server/AdminPanel/Jobs/BulkPage.swift

        msgid "Nothing is ticked. Tick rows, or choose all that match."
        msgstr "Nichts ist ausgewählt. Wählen Sie Zeilen aus, oder nehmen Sie alle passenden."

        msgid "All matching {0}"
        msgstr "Alle passenden {0}"

        msgid "Change {0}"
        msgstr "{0} ändern"

        msgid "Nothing matches"
        msgstr "Nichts passt"

        msgid "The matching objects have changed"
        msgstr "Die passenden Objekte haben sich geändert"

        msgid "Tick at least one field to change."
        msgstr "Wählen Sie mindestens ein Feld aus, das geändert werden soll."

        # Packages/Server/AdminPanel/Jobs/BulkPages.swift

        msgctxt "may …"
        msgid "change or restore"
        msgstr "ändern oder wiederherstellen"

        # Packages/Server/AdminPanel/Jobs/BulkTrialContent.swift

        msgid "This was a trial with all of them. Nothing has changed yet."
        msgstr "Das war ein Probelauf mit allen. Noch ist nichts geändert."

        msgid "This was a trial with {0} of them. Nothing has changed yet."
        msgstr "Das war ein Probelauf mit {0} davon. Noch ist nichts geändert."

        msgid "{0} of those that you chose no longer exists."
        msgid_plural "{0} of those that you chose no longer exist."
        msgstr[0] "{0} der ausgewählten Objekte gibt es nicht mehr."
        msgstr[1] "{0} der ausgewählten Objekte gibt es nicht mehr."

        msgid "{0} needs no change."
        msgid_plural "{0} need no change."
        msgstr[0] "{0} braucht keine Änderung."
        msgstr[1] "{0} brauchen keine Änderung."

        msgid "{0} of those tried would be refused, and stays unchanged:"
        msgid_plural "{0} of those tried would be refused, and stay unchanged:"
        msgstr[0] "{0} der geprüften Objekte würde abgelehnt und bleibt unverändert:"
        msgstr[1] "{0} der geprüften Objekte würden abgelehnt und bleiben unverändert:"

        msgid "The app keeps {0} of those tried for now, so it can't be deleted permanently:"
        msgid_plural "The app keeps {0} of those tried for now, so they can't be deleted permanently:"
        msgstr[0] "Die App behielte {0} der geprüften Objekte vorerst im Papierkorb, sodass es nicht endgültig gelöscht werden kann:"
        msgstr[1] "Die App behielte {0} der geprüften Objekte vorerst im Papierkorb, sodass sie nicht endgültig gelöscht werden können:"

        # Packages/Server/AdminPanel/Jobs/BulkWords.swift

        msgid "Move {0} to the trash"
        msgstr "{0} in den Papierkorb legen"

        msgid "Restore {0}"
        msgstr "{0} wiederherstellen"

        msgid "Delete {0} permanently"
        msgstr "{0} endgültig löschen"

        msgid "Change {0}?"
        msgstr "{0} ändern?"

        msgid "Move {0} to the trash?"
        msgstr "{0} in den Papierkorb legen?"

        msgid "Delete {0} permanently?"
        msgstr "{0} endgültig löschen?"

        msgid "{0} other comes back with them."
        msgid_plural "{0} others come back with them."
        msgstr[0] "{0} weiteres Objekt kommt mit zurück."
        msgstr[1] "{0} weitere Objekte kommen mit zurück."

        msgid "{0} other goes into the trash with them."
        msgid_plural "{0} others go into the trash with them."
        msgstr[0] "{0} weiteres Objekt kommt mit in den Papierkorb."
        msgstr[1] "{0} weitere Objekte kommen mit in den Papierkorb."

        msgid "Change fields…"
        msgstr "Felder ändern…"

        msgid "Move to trash…"
        msgstr "In den Papierkorb…"

        msgid "Delete permanently…"
        msgstr "Endgültig löschen…"

        # Packages/Server/AdminPanel/Jobs/JobContent.swift

        msgid "It starts over: all or nothing."
        msgstr "Er beginnt von vorn: alles oder nichts."

        msgid "It continues with the remaining rows, and doesn't process any row twice."
        msgstr "Er läuft mit den übrigen Zeilen weiter, keine doppelt."

        msgid "Stop the job"
        msgstr "Auftrag abbrechen"

        msgid "Discard"
        msgstr "Verwerfen"

        msgid "{0} of {1}"
        msgstr "{0} von {1}"

        msgid "Requested"
        msgstr "Angefordert"

        msgid "Started"
        msgstr "Gestartet"

        msgid "Finished"
        msgstr "Beendet"

        msgid "Undoes job {0}"
        msgstr "Macht Auftrag {0} rückgängig"

        msgid "Undone by job {0}"
        msgstr "Rückgängig gemacht durch Auftrag {0}"

        msgid "Choose its columns and start it"
        msgstr "Spalten wählen und starten"

        msgid "new object"
        msgstr "neues Objekt"

        # Packages/Server/AdminPanel/Jobs/JobPages.swift

        msgid "Jobs"
        msgstr "Aufträge"

        msgid "jobs"
        msgstr "Aufträge"

        msgid "Undo this job?"
        msgstr "Diesen Auftrag rückgängig machen?"

        msgid "You have no job with this number."
        msgstr "Sie haben keinen Auftrag mit dieser Nummer."

        msgid "'{0}' isn't a number."
        msgstr "„{0}“ ist keine Zahl."

        msgid "This job can't be undone, or no longer can be."
        msgstr "Dieser Auftrag lässt sich nicht oder nicht mehr rückgängig machen."

        msgid "Its page says what it did."
        msgstr "Auf seiner Seite steht, was er getan hat."

        # Packages/Server/AdminPanel/Jobs/JobWords.swift

        msgid "Done"
        msgstr "Erledigt"

        msgid "Refused"
        msgstr "Abgelehnt"

        msgid "Skipped"
        msgstr "Übersprungen"

        msgid "Pending"
        msgstr "Ausstehend"

        msgid "Undo job {0}: {1}"
        msgstr "Auftrag {0} rückgängig machen: {1}"

        msgid "Not started"
        msgstr "Nicht gestartet"

        msgid "Waiting"
        msgstr "Wartet"

        msgid "Running"
        msgstr "Läuft"

        msgid "Failed"
        msgstr "Fehlgeschlagen"

        msgid "Cancelled"
        msgstr "Abgebrochen"

        msgid "Line {0}"
        msgstr "Zeile {0}"

        msgid "Row {0}"
        msgstr "Zeile {0}"

        msgid "The job was stopped. What it did stays."
        msgstr "Der Auftrag wurde abgebrochen. Was er getan hat, bleibt."

        msgid "The file was discarded. Nothing was changed."
        msgstr "Die Datei wurde verworfen. Nichts wurde geändert."

        msgid "The job was discarded. Nothing was changed."
        msgstr "Der Auftrag wurde verworfen. Nichts wurde geändert."

        msgid "{0}: restored from the trash, with what was moved there along with it."
        msgid_plural "{0}: restored from the trash, with what was moved there along with them."
        msgstr[0] "{0}: kommt aus dem Papierkorb zurück, samt allem, was mit dorthin kam."
        msgstr[1] "{0}: kommen aus dem Papierkorb zurück, samt allem, was mit dorthin kam."

        msgid "{0}: moved to the trash again, with what was restored along with it."
        msgid_plural "{0}: moved to the trash again, with what was restored along with them."
        msgstr[0] "{0}: kommt wieder in den Papierkorb, samt allem, was mit wiederhergestellt wurde."
        msgstr[1] "{0}: kommen wieder in den Papierkorb, samt allem, was mit wiederhergestellt wurde."

        msgid "{0}: set back to the previous values."
        msgstr "{0}: zurück auf die vorherigen Werte."

        msgid "{0}: what was done to it is undone."
        msgid_plural "{0}: what was done to them is undone."
        msgstr[0] "{0}: Was daran getan wurde, wird rückgängig gemacht."
        msgstr[1] "{0}: Was daran getan wurde, wird rückgängig gemacht."

        msgid "Reason: {0}"
        msgstr "Grund: {0}"

        # Packages/Server/AdminPanel/Layout/PanelAssets.swift

        msgid "There is no such file."
        msgstr "Diese Datei gibt es nicht."

        # Packages/Server/AdminPanel/Layout/PanelLayout.swift

        msgid "Data"
        msgstr "Daten"

        # Packages/Server/AdminPanel/Layout/PanelTheme.swift

        msgid "same as the system"
        msgstr "wie im System"

        msgid "light"
        msgstr "hell"

        msgid "dark"
        msgstr "dunkel"

        msgid "Unknown colour scheme."
        msgstr "Diese Farben gibt es nicht."

        msgid "Choose system, light or dark."
        msgstr "Wählen Sie system, light oder dark."

        msgid "The panel isn't available in this language."
        msgstr "In dieser Sprache gibt es keine Seiten."

        msgid "Choose one of {0}."
        msgstr "Wählen Sie eine aus {0}."

        # Packages/Server/AdminPanel/Lists/CellText.swift

        msgid "Too long to show"
        msgstr "Zu lang zum Anzeigen"

        msgid "no bytes"
        msgstr "keine Bytes"

        msgid "{0} byte"
        msgid_plural "{0} bytes"
        msgstr[0] "{0} Byte"
        msgstr[1] "{0} Bytes"

        msgid "Yes"
        msgstr "Ja"

        msgid "No"
        msgstr "Nein"

        # Packages/Server/AdminPanel/Lists/ClassPages.swift

        msgid "objects of a class"
        msgstr "Objekte einer Klasse"

        msgid "Did you mean '{0}'?"
        msgstr "Meinten Sie „{0}“?"

        msgid "The overview lists the classes."
        msgstr "Die Übersicht enthält die Klassen."

        msgctxt "may …"
        msgid "update"
        msgstr "ändern"

        msgctxt "may …"
        msgid "create"
        msgstr "erstellen"

        msgctxt "may …"
        msgid "delete or trash"
        msgstr "löschen oder in den Papierkorb legen"

        msgid "There is no class at this address."
        msgstr "Unter dieser Adresse gibt es keine Klasse."

        # Packages/Server/AdminPanel/Lists/ClassTitle.swift

        msgid "many"
        msgstr "viele"

        # Packages/Server/AdminPanel/Lists/ExportPages.swift

        msgid "CSV, for spreadsheets"
        msgstr "CSV, für Tabellenprogramme"

        msgid "JSON"
        msgstr "JSON"

        msgid "JSON lines"
        msgstr "JSON Lines"

        # Packages/Server/AdminPanel/Lists/FilterForm+Counts.swift

        msgid "other values"
        msgstr "andere Werte"

        # Packages/Server/AdminPanel/Lists/FilterForm+Values.swift

        msgid "a whole number"
        msgstr "eine ganze Zahl"

        msgid "a number, such as 12.5"
        msgstr "eine Zahl wie 12.5"

        msgid "a date, such as 2026-05-14 or 2026-05-14 13:22, in UTC"
        msgstr "ein Datum wie 2026-05-14 oder 2026-05-14 13:22, in UTC"

        # Packages/Server/AdminPanel/Lists/FilterForm.swift

        msgid "Id"
        msgstr "ID"

        msgctxt "a field and what is asked of it"
        msgid "{0} {1}"
        msgstr "{0} {1}"

        msgctxt "a field, what is asked of it, and a value"
        msgid "{0} {1} {2}"
        msgstr "{0} {1} {2}"

        msgid "{0} can't be tested with '{1}'."
        msgstr "{0} lässt sich nicht mit „{1}“ prüfen."

        msgid "{0}: '{1}' isn't {2}."
        msgstr "{0}: „{1}“ passt nicht; erwartet wird {2}."

        msgid "Enter {0}."
        msgstr "Geben Sie {0} ein."

        msgid "{0}: there is no '{1}' among the {2}."
        msgstr "{0}: „{1}“ gibt es nicht unter „{2}“."

        msgid "Enter its title exactly, or its id."
        msgstr "Geben Sie den genauen Titel oder die ID ein."

        msgid "{0}: several of the {1} are called '{2}'."
        msgstr "{0}: Mehrere Objekte unter „{1}“ heißen „{2}“."

        msgid "Enter the id of the one that you mean."
        msgstr "Geben Sie die ID des gemeinten Objekts ein."

        # Packages/Server/AdminPanel/Lists/FilterTest.swift

        msgid "is"
        msgstr "ist"

        msgid "is not"
        msgstr "ist nicht"

        msgid "contains"
        msgstr "enthält"

        msgid "starts with"
        msgstr "beginnt mit"

        msgid "is before"
        msgstr "ist vor"

        msgid "is less than"
        msgstr "ist kleiner als"

        msgid "is not after"
        msgstr "ist nicht nach"

        msgid "is at most"
        msgstr "ist höchstens"

        msgid "is after"
        msgstr "ist nach"

        msgid "is more than"
        msgstr "ist größer als"

        msgid "is not before"
        msgstr "ist nicht vor"

        msgid "is at least"
        msgstr "ist mindestens"

        msgid "is one of"
        msgstr "ist eins von"

        msgid "is empty"
        msgstr "ist leer"

        msgid "is not empty"
        msgstr "ist nicht leer"

        # Packages/Server/AdminPanel/Lists/ListPage.swift

        msgid "all {0} that match"
        msgstr "alle {0} passenden"

        msgid "all {0}"
        msgstr "alle {0}"

        # Packages/Server/AdminPanel/Lists/ListRequest.swift

        msgid "{0} have no field '{1}'."
        msgstr "{0}: Es gibt kein Feld „{1}“."

        msgid "The search has more than {0} bytes."
        msgstr "Der Suchtext hat mehr als {0} Bytes."

        msgid "Use a shorter search text."
        msgstr "Suchen Sie nach einem kürzeren Text."

        msgid "'{0}' must be 1, which shows counts."
        msgstr "„{0}“ kann nur 1 sein, dann werden Anzahlen gezeigt."

        msgid "Leave '{0}' out of the address for a list without counts."
        msgstr "Lassen Sie „{0}“ in der Adresse weg, um die Liste ohne Anzahlen zu sehen."

        msgid "The list has {0} columns. The limit is {1}."
        msgstr "Die Liste hat {0} Spalten, höchstens {1} sind möglich."

        msgid "Choose fewer columns."
        msgstr "Wählen Sie weniger Spalten."

        # Packages/Server/AdminPanel/Lists/PanelResource.swift

        msgid "A resource has no id."
        msgstr "Eine Ressource hat keine ID."

        # Packages/Server/AdminPanel/Lists/RowsPage+Saving.swift

        msgid "Nothing was changed."
        msgstr "Nichts wurde geändert."

        # Packages/Server/AdminPanel/Lists/RowsPage.swift

        msgid "None of these columns can be edited in the list. Choose others under Columns."
        msgstr "Keine dieser Spalten lässt sich in der Liste bearbeiten. Wählen Sie unter „Spalten“ andere."

        msgid "{0} was saved."
        msgid_plural "{0} were saved."
        msgstr[0] "{0} gespeichert."
        msgstr[1] "{0} gespeichert."

        msgid "Edit {0}"
        msgstr "{0} bearbeiten"

        # Packages/Server/AdminPanel/Lists/RowsTable+Form.swift

        msgid "The form doesn't say how many rows it has, or there are more than {0}."
        msgstr "Das Formular gibt nicht an, wie viele Zeilen es hat, oder es sind mehr als {0}."

        msgid "Load the page again."
        msgstr "Laden Sie die Seite neu."

        # Packages/Server/AdminPanel/Lists/RowsTable+Refusals.swift

        msgid "It's no longer here: somebody deleted it or moved it elsewhere."
        msgstr "Das Objekt ist nicht mehr hier: Jemand hat es gelöscht oder verschoben."

        msgid "Saving again leaves this row out."
        msgstr "Beim nächsten Speichern wird diese Zeile ausgelassen."

        msgid "Somebody has changed it in the meantime."
        msgstr "Jemand hat das inzwischen geändert."

        msgid "Check the current value. Saving again overwrites it with yours."
        msgstr "Sehen Sie sich den jetzigen Stand an. Beim nächsten Speichern gilt Ihre Eingabe."

        # Packages/Server/AdminPanel/Lists/RowsTable+Showing.swift

        msgid "{0} (required)"
        msgstr "{0} (erforderlich)"

        # Packages/Server/AdminPanel/Lists/RowsTable.swift

        msgid "New {0} {1}"
        msgstr "{0} {1} (neu)"

        # Packages/Server/AdminPanel/Lists/SavedViews.swift

        msgid "The view '{0}' is saved."
        msgstr "Die Ansicht „{0}“ ist gespeichert."

        msgid "The view '{0}' was deleted."
        msgstr "Die Ansicht „{0}“ wurde gelöscht."

        msgid "Save it again"
        msgstr "Wieder speichern"

        msgid "This view can't be saved: its address is too long or invalid."
        msgstr "Diese Ansicht lässt sich nicht speichern: Ihre Adresse ist zu lang oder ungültig."

        msgid "Remove some filters."
        msgstr "Entfernen Sie einige Filter."

        msgid "You already have {0} views of this class."
        msgstr "Sie haben schon {0} Ansichten dieser Klasse."

        msgid "Delete one first."
        msgstr "Löschen Sie zuerst eine."

        msgid "A view needs a name of at most {0} bytes."
        msgstr "Eine Ansicht braucht einen Namen mit höchstens {0} Bytes."

        msgid "Go back and give it one."
        msgstr "Gehen Sie zurück und geben Sie ihr einen."

        # Packages/Server/AdminPanel/Live/LivePages.swift

        msgid "Too many pages are being watched."
        msgstr "Es werden zu viele Seiten beobachtet."

        msgid "Close some of them."
        msgstr "Schließen Sie einige davon."

        # Packages/Server/AdminPanel/Markdown/MarkdownPages.swift

        msgid "The form has no text."
        msgstr "Das Formular hat keinen Text."

        msgid "Send it as '{0}'."
        msgstr "Senden Sie ihn als „{0}“."

        msgid "Texts of more than {0} KiB are shown unformatted."
        msgstr "Texte mit mehr als {0} KiB werden unformatiert angezeigt."

        msgid "Shorten the text to see it formatted."
        msgstr "Kürzen Sie den Text, um ihn formatiert zu sehen."

        # Packages/Server/AdminPanel/Pages/HelpPages.swift

        msgid "Help"
        msgstr "Hilfe"

        # Packages/Server/AdminPanel/Pages/LoginPages.swift

        msgid "it only redirects browsers to the panel"
        msgstr "führt Browser nur zum Panel"

        msgid "the panel's style and script hold no data"
        msgstr "Stil und Skript des Panels enthalten keine Daten"

        msgid "this is where sessions are created"
        msgstr "hier entstehen Sitzungen"

        msgid "session"
        msgstr "Sitzung"

        msgid "Log in"
        msgstr "Anmelden"

        msgid "There is nothing at this address."
        msgstr "Unter dieser Adresse gibt es nichts."

        # Packages/Server/AdminPanel/Pages/OverviewPages.swift

        msgid "Overview"
        msgstr "Übersicht"

        msgid "{0}: {1} in the trash will be deleted permanently within {2} days."
        msgstr "{0}: {1} im Papierkorb, endgültige Löschung innerhalb von {2} Tagen."

        msgid "The purge couldn't delete {0} of the groups in the trash: {1}"
        msgstr "Das automatische Löschen scheiterte bei {0} der Gruppen im Papierkorb: {1}"

        msgid "The purge couldn't delete {0} of the groups in the trash."
        msgstr "Das automatische Löschen scheiterte bei {0} der Gruppen im Papierkorb."

        msgid "A note on the rules: {0}"
        msgstr "Hinweis zu den Regeln: {0}"

        msgid "The last purge ended early: {0}"
        msgstr "Das letzte automatische Löschen endete vorzeitig: {0}"

        # Packages/Server/AdminPanel/Pages/PanelFailures.swift

        msgid "Not permitted"
        msgstr "Nicht erlaubt"

        msgid "Not found"
        msgstr "Nicht gefunden"

        msgid "Conflict"
        msgstr "Konflikt"

        msgid "Too many attempts"
        msgstr "Zu viele Versuche"

        msgid "The server has a problem"
        msgstr "Der Server hat ein Problem"

        msgid "That didn't work"
        msgstr "Das hat nicht funktioniert"

        msgid "A role gets this from the box '{0}' of '{1}' in the permissions of {2}."
        msgstr "Eine Rolle erhält dies durch das Kästchen „{0}“ von „{1}“ in den Berechtigungen von {2}."

        msgid "You may no longer change this."
        msgstr "Sie dürfen das nicht mehr ändern."

        msgid "It was removed, or you may no longer see it."
        msgstr "Es wurde entfernt, oder Sie dürfen es nicht mehr sehen."

        msgid "Your session has ended. Log in again; what you sent wasn't saved."
        msgstr "Ihre Sitzung ist beendet. Melden Sie sich wieder an; was Sie gesendet haben, wurde nicht gespeichert."

        msgid "Enter your password"
        msgstr "Passwort eingeben"

        # Packages/Server/AdminPanel/PanelEntry.swift

        msgid "Start"
        msgstr "Start"

        msgid "App"
        msgstr "App"

        msgid "Work"
        msgstr "Arbeit"

        msgid "People"
        msgstr "Personen"

        msgid "System"
        msgstr "System"

        # Packages/Server/AdminPanel/PanelRequest.swift

        msgid "This isn't your password."
        msgstr "Das ist nicht Ihr Passwort."

        msgid "Enter your password again to continue."
        msgstr "Geben Sie Ihr Passwort noch einmal ein, um fortzufahren."

        # Packages/Server/AdminPanel/PanelRoutes.swift

        msgid "Log in to see this page."
        msgstr "Für diese Seite müssen Sie sich anmelden."

        # Packages/Server/AdminPanel/Passwords/ForgottenPages.swift

        msgid "it only sends mail to the owner of an address"
        msgstr "schickt dem Inhaber einer Adresse eine E-Mail"

        msgid "it requires a mailed token"
        msgstr "verlangt ein Token aus einer E-Mail"

        msgid "Enter the e-mail address that you log in with."
        msgstr "Geben Sie die E-Mail-Adresse ein, mit der Sie sich anmelden."

        msgid "Forgot your password?"
        msgstr "Passwort vergessen?"

        msgid "Set a new password"
        msgstr "Neues Passwort festlegen"

        msgid "Your password was changed"
        msgstr "Ihr Passwort wurde geändert"

        msgid "This link is invalid, has expired or was already used."
        msgstr "Dieser Link ist ungültig, abgelaufen oder schon benutzt."

        # Packages/Server/AdminPanel/Passwords/PasswordPages.swift

        msgid "password"
        msgstr "Passwort"

        msgid "Change your password"
        msgstr "Passwort ändern"

        msgid "Your password was changed. All your other logins were ended."
        msgstr "Ihr Passwort wurde geändert. Alle Ihre anderen Anmeldungen wurden beendet."

        msgid "This isn't your current password."
        msgstr "Das ist nicht Ihr jetziges Passwort."

        msgid "This is about your own account."
        msgstr "Hier geht es um Ihr eigenes Konto."

        msgid "Stop viewing as {0} first."
        msgstr "Beenden Sie zuerst das Ansehen als {0}."

        msgid "The two new passwords differ."
        msgstr "Die beiden neuen Passwörter stimmen nicht überein."

        # Packages/Server/AdminPanel/People/InvitationPages.swift

        msgid "it requires an invitation's token"
        msgstr "verlangt das Token einer Einladung"

        msgid "Accept an invitation"
        msgstr "Einladung annehmen"

        msgid "You now have the role {0}."
        msgstr "Sie haben jetzt die Rolle {0}."

        msgid "You already had the role {0}."
        msgstr "Sie hatten die Rolle {0} schon."

        msgid "{0} invites you to be {1}."
        msgstr "{0} lädt Sie in die Rolle {1} ein."

        msgid "{0} invites you to be {1} of {2}."
        msgstr "{0} lädt Sie in die Rolle {1} ein, für: {2}."

        msgid "You are invited"
        msgstr "Sie sind eingeladen"

        msgid "Your account was created"
        msgstr "Ihr Konto wurde erstellt"

        # Packages/Server/AdminPanel/People/PeoplePages.swift

        msgid "The invitation of {0} was revoked."
        msgstr "Die Einladung an {0} wurde widerrufen."

        msgid "The role {0} was handed over. The previous holder is now {1}."
        msgstr "Die Rolle {0} wurde übergeben. Wer sie bisher hatte, hat jetzt die Rolle {1}."

        msgid "{0} was invited by e-mail."
        msgstr "{0} wurde per E-Mail eingeladen."

        msgid "{0} is invited"
        msgstr "{0} ist eingeladen"

        msgid "There is no such invitation."
        msgstr "Diese Einladung gibt es nicht."

        msgid "People lists the ones you may see."
        msgstr "Unter „Personen“ stehen alle, die Sie sehen dürfen."

        # Packages/Server/AdminPanel/People/PeopleReader.swift

        msgid "Only the first {0} are shown."
        msgstr "Nur die ersten {0} werden angezeigt."

        msgid "Roles that apply everywhere"
        msgstr "Rollen, die überall gelten"

        msgid "Roles in {0}"
        msgstr "Rollen in {0}"

        msgid "everywhere"
        msgstr "überall"

        # Packages/Server/AdminPanel/People/RoleScope.swift

        msgid "No class with this name grants roles that you may see."
        msgstr "Keine Klasse dieses Namens vergibt Rollen, die Sie sehen dürfen."

        msgid "Choose among {0}."
        msgstr "Wählen Sie aus {0}."

        msgid "There is no object with this id in which roles can be granted."
        msgstr "Es gibt nichts mit dieser ID, worin Rollen vergeben werden."

        # Packages/Server/AdminPanel/Permissions/BoxWish.swift

        msgid "{0} may now {1} {2}."
        msgstr "{0} darf jetzt {2} {1}."

        msgid "{0} may no longer {1} {2}."
        msgstr "{0} darf {2} nicht mehr {1}."

        msgid "{0} users now have the permission {1}."
        msgstr "Die Benutzergruppe {0} hat jetzt die Berechtigung {1}."

        msgid "{0} users no longer have the permission {1}."
        msgstr "Die Benutzergruppe {0} hat die Berechtigung {1} nicht mehr."

        msgid "The address doesn't name a box."
        msgstr "Die Adresse gibt nicht an, um welches Kästchen es geht."

        msgid "The matrix of {0} has no such box."
        msgstr "Die Matrix von {0} hat dieses Kästchen nicht."

        # Packages/Server/AdminPanel/Permissions/ConditionWords.swift

        msgid "all"
        msgstr "alle"

        msgid "{0}, and {1}"
        msgstr "{0}, und {1}"

        msgid "{0}, or {1}"
        msgstr "{0}, oder {1}"

        msgid "not ({0})"
        msgstr "nicht ({0})"

        msgid "{0}: {1}"
        msgstr "{0}: {1}"

        msgid "{0}: not {1}"
        msgstr "{0}: nicht {1}"

        msgid "{0}: less than {1}"
        msgstr "{0}: kleiner als {1}"

        msgid "{0}: at most {1}"
        msgstr "{0}: höchstens {1}"

        msgid "{0}: more than {1}"
        msgstr "{0}: größer als {1}"

        msgid "{0}: at least {1}"
        msgstr "{0}: mindestens {1}"

        msgid "It's {0}"
        msgstr "Es ist {0}"

        msgid "It's not {0}"
        msgstr "Es ist nicht {0}"

        msgid "It's less than {0}"
        msgstr "Es ist kleiner als {0}"

        msgid "It's at most {0}"
        msgstr "Es ist höchstens {0}"

        msgid "It's more than {0}"
        msgstr "Es ist größer als {0}"

        msgid "It's at least {0}"
        msgstr "Es ist mindestens {0}"

        msgid "{0}: contains '{1}'"
        msgstr "{0}: enthält „{1}“"

        msgid "{0}: begins with '{1}'"
        msgstr "{0}: beginnt mit „{1}“"

        msgid "{0}: ends with '{1}'"
        msgstr "{0}: endet mit „{1}“"

        msgid "one where they have the role {0}"
        msgstr "eins, in dem die Person die Rolle {0} hat"

        msgid "this user"
        msgstr "dieser Benutzer"

        msgid "empty"
        msgstr "leer"

        msgid "{0} or {1}"
        msgstr "{0} oder {1}"

        # Packages/Server/AdminPanel/Permissions/PermissionBoxContent.swift

        msgid "Give {0} users {1}?"
        msgstr "Soll die Benutzergruppe {0} die Berechtigung {1} bekommen?"

        msgid "Take {0} from {1} users?"
        msgstr "Soll die Benutzergruppe {1} die Berechtigung {0} verlieren?"

        msgid "All {0} users will have the permission {1}. What it allows is defined in the rules."
        msgstr "Alle in der Benutzergruppe {0} haben dann die Berechtigung {1}. Was sie erlaubt, legen die Regeln fest."

        msgid "The permission {0} will be withdrawn from all {1} users. What they have created with it stays."
        msgstr "Niemand in der Benutzergruppe {1} hat dann noch die Berechtigung {0}. Was damit erstellt wurde, bleibt."

        msgid "Allow"
        msgstr "Erlauben"

        msgid "Withdraw"
        msgstr "Entziehen"

        msgid "Let {0} {1} {2}?"
        msgstr "Soll {0} {2} {1} dürfen?"

        msgid "Stop {0} from creating {1}?"
        msgstr "Soll {0} {1} nicht mehr erstellen dürfen?"

        msgid "Stop {0} from reading {1}?"
        msgstr "Soll {0} {1} nicht mehr lesen dürfen?"

        msgid "Stop {0} from updating {1}?"
        msgstr "Soll {0} {1} nicht mehr ändern dürfen?"

        msgid "Stop {0} from deleting {1}?"
        msgstr "Soll {0} {1} nicht mehr löschen dürfen?"

        msgid "Everybody with the role {0} will be able to {1} {2}. What that gives access to is defined in the rules."
        msgstr "Alle mit der Rolle {0} können dann {2} {1}. Was das öffnet, legen die Regeln fest."

        msgid "The role {0} will no longer allow anybody to {1} {2}."
        msgstr "Niemand kann dann noch mit der Rolle {0} {2} {1}."

        msgid "Everybody with the role {0} will be able to {1} objects of {2} where they have the role."
        msgstr "Alle mit der Rolle {0} können dann Objekte von {2} {1}, und zwar dort, wo sie die Rolle haben."

        msgid "The role {0} will no longer allow anybody to {1} objects of {2}."
        msgstr "Niemand kann dann noch mit der Rolle {0} Objekte von {2} {1}."

        msgid "Devices lose their copies of what they may no longer read."
        msgstr "Geräte verlieren ihre Kopien von allem, was sie nicht mehr lesen dürfen."

        # Packages/Server/AdminPanel/Permissions/PermissionPages.swift

        msgid "Routes by role"
        msgstr "Routen nach Rolle"

        msgid "Permissions"
        msgstr "Berechtigungen"

        msgid "The rules have changed since you opened the page."
        msgstr "Die Regeln haben sich geändert, seit Sie die Seite geöffnet haben."

        msgid "The box is already as you want it."
        msgstr "Das Kästchen ist schon so, wie Sie es möchten."

        msgid "Go back to the permissions, and choose the box there."
        msgstr "Gehen Sie zurück zu den Berechtigungen und wählen Sie das Kästchen dort."

        msgid "The rules would be invalid."
        msgstr "Die Regeln hätten Fehler."

        msgid "The app no longer has a permission matrix."
        msgstr "Die App hat keine Rechtematrix mehr."

        msgid "Somebody has changed the rules since you opened the page; nothing was stored."
        msgstr "Jemand hat die Regeln geändert, seit Sie die Seite geöffnet haben; nichts wurde gespeichert."

        msgid "Check the permissions again. To make the change anyway, send it again: it's now for the newest rules."
        msgstr "Prüfen Sie die Berechtigungen noch einmal. Wenn Sie die Änderung weiterhin möchten, senden Sie sie erneut: Sie gilt jetzt für die neuesten Regeln."

        # Packages/Server/AdminPanel/Permissions/PermissionsContent.swift

        msgid "{0}, version {1}, stored {2} by {3}."
        msgstr "{0}, Version {1}, gespeichert {2} von {3}."

        msgid "{0}, version {1}, stored {2}."
        msgstr "{0}, Version {1}, gespeichert {2}."

        msgid "{0}, version {1}."
        msgstr "{0}, Version {1}."

        msgid "everywhere, added"
        msgstr "überall, hinzugefügt"

        msgctxt "role"
        msgid "added"
        msgstr "hinzugefügt"

        msgid "{0} users have the permission {1}"
        msgstr "Benutzergruppe {0} hat die Berechtigung {1}"

        msgid "{0} users don't have the permission {1}"
        msgstr "Benutzergruppe {0} hat die Berechtigung {1} nicht"

        msgid "{0} may {1} {2}"
        msgstr "{0} darf {2} {1}"

        msgid "{0} may not {1} {2}"
        msgstr "{0} darf {2} nicht {1}"

        msgid "{0} may {1} {2}, by the rules of the class"
        msgstr "{0} darf {2} {1}, nach den Regeln der Klasse"

        msgid "{0} may not {1} {2}, by the rules of the class"
        msgstr "{0} darf {2} nicht {1}, nach den Regeln der Klasse"

        # Packages/Server/AdminPanel/Permissions/RoleContent.swift

        msgid "It applies within one object, such as an event."
        msgstr "Sie gilt innerhalb eines Objekts, etwa einer Veranstaltung."

        msgid "It applies everywhere."
        msgstr "Sie gilt überall."

        msgid "nobody"
        msgstr "niemand"

        msgid "And {0} more."
        msgstr "Und {0} weitere."

        msgid "The app's rules also name this role elsewhere, so it can't be renamed or removed."
        msgstr "Die Regeln der App nennen diese Rolle an anderen Stellen, daher lässt sie sich nicht umbenennen oder entfernen."

        msgid "It can't be removed while somebody has it. Delete the objects that grant it, or rename it."
        msgstr "Sie lässt sich nicht entfernen, solange jemand sie hat. Löschen Sie die Objekte, die sie vergeben, oder benennen Sie sie um."

        msgid "once"
        msgstr "einmal"

        msgid "{0} time"
        msgid_plural "{0} times"
        msgstr[0] "{0}-mal"
        msgstr[1] "{0}-mal"

        msgid "Nobody has it."
        msgstr "Niemand hat sie."

        msgid "{0} user has it"
        msgid_plural "{0} users have it"
        msgstr[0] "{0} Benutzer hat sie"
        msgstr[1] "{0} Benutzer haben sie"

        msgid "{0} object grants it"
        msgid_plural "{0} objects grant it"
        msgstr[0] "{0} Objekt vergibt sie"
        msgstr[1] "{0} Objekte vergeben sie"

        msgid "{0}; {1}."
        msgstr "{0}; {1}."

        msgid "May {0} {1}"
        msgstr "Darf {1} {0}"

        # Packages/Server/AdminPanel/Permissions/RolePages.swift

        msgid "The role {0} is now called {1}. Everybody who had it keeps it."
        msgstr "Die Rolle {0} heißt jetzt {1}. Alle, die sie hatten, behalten sie."

        msgid "The role {0} was removed."
        msgstr "Die Rolle {0} wurde entfernt."

        msgid "Role {0}"
        msgstr "Rolle {0}"

        msgid "Add a role"
        msgstr "Rolle hinzufügen"

        msgid "The role {0} was added."
        msgstr "Die Rolle {0} wurde hinzugefügt."

        msgid "There is no such role."
        msgstr "Diese Rolle gibt es nicht."

        msgid "Somebody may have renamed or removed it in the meantime."
        msgstr "Vielleicht hat sie inzwischen jemand umbenannt oder entfernt."

        msgid "The form doesn't say which version of the rules it's for."
        msgstr "Das Formular gibt nicht an, um welche Regeln es geht."

        # Packages/Server/AdminPanel/Permissions/RoutesContent.swift

        msgid "anonymous"
        msgstr "anonym"

        msgid "any user"
        msgstr "alle Benutzer"

        msgid "{0} of {1} routes"
        msgstr "{0} von {1} Routen"

        msgctxt "route"
        msgid "refused"
        msgstr "abgelehnt"

        msgctxt "route"
        msgid "own only"
        msgstr "nur eigene"

        msgctxt "route"
        msgid "allowed"
        msgstr "erlaubt"

        # Packages/Server/AdminPanel/Permissions/UserPermissionText.swift

        msgid "none, as one of the {0} users"
        msgstr "keine, in der Benutzergruppe {0}"

        msgid "{0}, as one of the {1} users"
        msgstr "{0}, in der Benutzergruppe {1}"

        # Packages/Server/AdminPanel/Permissions/VerificationPages.swift

        msgid "The address is now marked as verified."
        msgstr "Die Adresse ist jetzt als bestätigt markiert."

        msgid "The address is now marked as not verified."
        msgstr "Die Adresse ist jetzt als nicht bestätigt markiert."

        msgid "There is no such account, or it has no e-mail address to verify."
        msgstr "Dieses Konto gibt es nicht, oder es hat keine E-Mail-Adresse, die sich bestätigen ließe."

        # Packages/Server/AdminPanel/Permissions/ViewAsPages.swift

        msgid "View as"
        msgstr "Ansehen als"

        msgid "No account that may log in has this address or id."
        msgstr "Kein Konto, das sich anmelden darf, hat diese Adresse oder ID."

        msgid "A disabled account sees nothing."
        msgstr "Ein deaktiviertes Konto sieht nichts."

        msgid "Choose a role, or enter a user's address or id."
        msgstr "Wählen Sie eine Rolle, oder geben Sie die Adresse oder ID eines Benutzers ein."

        msgid "No object in which roles can be granted is called '{0}'."
        msgstr "Nichts, worin Rollen vergeben werden, heißt „{0}“."

        msgid "Several are called '{0}'."
        msgstr "Mehrere heißen „{0}“."

        # Packages/Server/AdminPanel/Permissions/WhyBoxes.swift

        msgid "None of their roles has a box for {0}."
        msgstr "Keine Rolle der Person hat ein Kästchen für {0}."

        msgid "None of their roles there has a box for {0}."
        msgstr "Keine Rolle der Person dort, wo das Objekt hingehört, hat ein Kästchen für {0}."

        msgid "The box is off: {0} may not {1} {2}."
        msgstr "Das Kästchen ist aus: {0} darf {2} nicht {1}."

        # Packages/Server/AdminPanel/Permissions/WhyContent.swift

        msgid "What {0} may do with {1} {2}"
        msgstr "Was {0} mit {1} {2} tun darf"

        msgid "What {0} may do with objects of {1}"
        msgstr "Was {0} mit Objekten von {1} tun darf"

        msgid "{0} has no rules, so nobody may do anything with it."
        msgstr "{0} hat keine Regeln, daher darf niemand etwas damit tun."

        msgid "The role '{0}' ({1}) decides: it's the first in the rules that applies."
        msgstr "Die Rolle „{0}“ ({1}) entscheidet: Sie ist die erste in den Regeln, die zutrifft."

        msgid "No role in the rules applies, so they may do nothing."
        msgstr "Keine Rolle in den Regeln trifft zu, daher ist nichts erlaubt."

        msgid "none: it depends on the user, not on the object"
        msgstr "keine, egal welche: Es hängt davon ab, wer fragt"

        msgid "those with"
        msgstr "solche mit"

        msgid "applies"
        msgstr "trifft zu"

        msgid "not reached"
        msgstr "nicht erreicht"

        msgid "doesn't apply; it would need"
        msgstr "trifft nicht zu; nötig wäre"

        msgctxt "objects"
        msgid "some"
        msgstr "manche"

        # Packages/Server/AdminPanel/Permissions/WhyPages.swift

        msgid "Not logged in"
        msgstr "Nicht angemeldet"

        msgid "Check permissions"
        msgstr "Berechtigungen prüfen"

        msgid "somebody with the role {0}"
        msgstr "jemand mit der Rolle {0}"

        msgid "There is no class {0}."
        msgstr "Es gibt keine Klasse {0}."

        msgid "{0} can't be explained."
        msgstr "{0} lässt sich nicht erklären."

        msgid "Somebody whose account is disabled may do nothing."
        msgstr "Wer ein deaktiviertes Konto hat, darf nichts."

        msgid "The id isn't {0}."
        msgstr "Die ID passt nicht; erwartet wird {0}."

        # Packages/Server/AdminPanel/Places/GeographicPoint.swift

        msgid "{0}° S"
        msgstr "{0}° S"

        msgid "{0}° N"
        msgstr "{0}° N"

        msgid "{0}° W"
        msgstr "{0}° W"

        msgid "{0}° E"
        msgstr "{0}° O"

        # Packages/Server/AdminPanel/Places/MapPages.swift

        msgid "There are no maps on this server."
        msgstr "Auf diesem Server gibt es keine Karten."

        msgid "Set {0} to turn them on."
        msgstr "{0} schaltet sie ein."

        # Packages/Server/AdminPanel/Places/MapPicture.swift

        msgid "Map of {0}"
        msgstr "Karte von {0}"

        msgid "Map of the world"
        msgstr "Weltkarte"

        msgid "Zoom in"
        msgstr "Vergrößern"

        msgid "Zoom out"
        msgstr "Verkleinern"

        # Packages/Server/AdminPanel/Places/RecordPage+Places.swift

        msgid "Place"
        msgstr "Ort"

        msgid "Place: {0}"
        msgstr "Ort: {0}"

        # Packages/Server/AdminPanel/Records/BytesPages.swift

        msgid "There are no such bytes."
        msgstr "Diese Bytes gibt es nicht."

        msgid "The record's page lists its fields."
        msgstr "Die Seite des Objekts enthält seine Felder."

        msgid "There are no bytes."
        msgstr "Es gibt keine Bytes."

        msgid "There's no thumbnail of these bytes."
        msgstr "Es gibt kein Vorschaubild von diesen Bytes."

        # Packages/Server/AdminPanel/Records/ChildRows+Showing.swift

        msgctxt "several"
        msgid "New {0}"
        msgstr "Neu: {0}"

        # Packages/Server/AdminPanel/Records/ConflictPage+Rows.swift

        msgid "{0} '{1}': {2}"
        msgstr "{0} „{1}“: {2}"

        # Packages/Server/AdminPanel/Records/ConflictPage.swift

        msgid "Somebody changed {0} or its {1} in the meantime"
        msgstr "Inzwischen hat jemand etwas geändert: {0} oder zugehörige {1}"

        msgid "Somebody changed {0} in the meantime"
        msgstr "Inzwischen hat jemand etwas geändert: {0}"

        # Packages/Server/AdminPanel/Records/EditPage+Controls.swift

        msgid "In UTC."
        msgstr "In UTC."

        msgid "In UTC, such as 2026-05-14T13:22:18Z."
        msgstr "In UTC, zum Beispiel 2026-05-14T13:22:18Z."

        msgid "There are none of the chosen {0}."
        msgstr "Nichts passt zur Auswahl bei: {0}."

        msgid "Only those of the chosen {0}."
        msgstr "Nur, was zur Auswahl passt bei: {0}."

        msgid "Nothing was found for '{0}' among those of the chosen {1}."
        msgstr "Nichts gefunden für „{0}“, das zur Auswahl passt bei: {1}."

        msgid "Nothing was found for '{0}'."
        msgstr "Nichts gefunden für „{0}“."

        # Packages/Server/AdminPanel/Records/EditPage+Notice.swift

        msgid "'{0}' is {1}"
        msgstr "„{0}“ ist {1}"

        msgid "'{0}' isn't what you entered"
        msgstr "„{0}“ weicht von Ihrer Eingabe ab"

        msgid "{0}: the database sets it itself."
        msgid_plural "{0}: the database sets them itself."
        msgstr[0] "{0}: Das setzt die Datenbank selbst."
        msgstr[1] "{0}: Das setzt die Datenbank selbst."

        # Packages/Server/AdminPanel/Records/EditPage+Rebasing.swift

        msgid "{0} has become too long for a form, so your input there was discarded."
        msgstr "{0} ist jetzt zu lang für ein Formular, daher ist Ihre Eingabe dort verloren."

        msgid "Change it over JSON:API."
        msgstr "Ändern Sie es über JSON:API."

        msgid "Your choice wasn't kept."
        msgstr "Ihre Auswahl ist verloren."

        msgid "Make it again."
        msgstr "Wählen Sie noch einmal."

        msgid "Somebody has changed it in the meantime. Current value: {0}."
        msgstr "Jemand hat das inzwischen geändert. Jetziger Wert: {0}."

        msgid "Saving again overwrites it with your value."
        msgstr "Beim nächsten Speichern gilt Ihre Eingabe."

        # Packages/Server/AdminPanel/Records/EditPage+Repeating.swift

        msgid "Created only once, although the form was sent twice."
        msgstr "Einmal erstellt, obwohl das Formular zweimal gesendet wurde."

        # Packages/Server/AdminPanel/Records/EditPage+Saving.swift

        msgid "Saved."
        msgstr "Gespeichert."

        msgid "Created."
        msgstr "Erstellt."

        msgid "Created, but you may not see it."
        msgstr "Erstellt, aber Sie dürfen es nicht sehen."

        msgid "A form can have at most {0} values in lists."
        msgstr "Ein Formular hat in Listen höchstens {0} Werte."

        msgid "Save what you have, or write longer lists over JSON:API."
        msgstr "Speichern Sie, was Sie haben, oder schreiben Sie längere Listen über JSON:API."

        # Packages/Server/AdminPanel/Records/EditPage+SavingTogether.swift

        msgid "Saved, with {0}."
        msgstr "Gespeichert, mit {0}."

        msgid "Created, with {0}."
        msgstr "Erstellt, mit {0}."

        # Packages/Server/AdminPanel/Records/EditPage+Showing.swift

        msgid "Save"
        msgstr "Speichern"

        msgid "New {0}"
        msgstr "Neu: {0}"

        # Packages/Server/AdminPanel/Records/EditPage+Together.swift

        msgid "Nothing links to {0} through '{1}'."
        msgstr "Über „{1}“ verweist nichts auf {0}."

        msgid "{0} can't be edited in one form with {1}: they have required fields that rows can't show."
        msgstr "{0} lassen sich nicht zusammen mit {1} in einem Formular bearbeiten: Dafür reichen Zeilen nicht aus."

        msgid "Open the form of each."
        msgstr "Öffnen Sie die einzelnen Formulare."

        msgid "The rows of {0} have unsaved changes."
        msgstr "Die Zeilen von {0} haben Änderungen."

        msgid "Save them before you edit others."
        msgstr "Speichern Sie sie, bevor Sie andere bearbeiten."

        # Packages/Server/AdminPanel/Records/RecordPage.swift

        msgid "More than {0}"
        msgstr "Mehr als {0}"

        # Packages/Server/AdminPanel/Records/RemovalPage.swift

        msgid "Move to trash?"
        msgstr "In den Papierkorb legen?"

        msgid "Delete permanently?"
        msgstr "Endgültig löschen?"

        msgid "It can be restored at any time."
        msgstr "Die Wiederherstellung ist jederzeit möglich."

        msgid "It can be restored for {0} day."
        msgid_plural "It can be restored for {0} days."
        msgstr[0] "Die Wiederherstellung ist {0} Tag lang möglich."
        msgstr[1] "Die Wiederherstellung ist {0} Tage lang möglich."

        msgid "Objects that you may not see"
        msgstr "Objekte, die Sie nicht sehen dürfen"

        msgid "Somebody changed {0} in the meantime, so it wasn't removed."
        msgstr "{0} wurde inzwischen geändert und deshalb nicht entfernt."

        msgid "Check it again before you continue."
        msgstr "Sehen Sie es sich noch einmal an, bevor Sie fortfahren."

        msgid "{0} was moved to the trash."
        msgstr "{0} wurde in den Papierkorb gelegt."

        msgctxt "record"
        msgid "{0} was deleted permanently."
        msgstr "{0} wurde endgültig gelöscht."

        msgid "Restore"
        msgstr "Wiederherstellen"

        msgid "{0} was restored."
        msgid_plural "{0} were restored."
        msgstr[0] "{0} wiederhergestellt."
        msgstr[1] "{0} wiederhergestellt."

        msgid "The form doesn't say what to restore."
        msgstr "Das Formular gibt nicht an, was wiederherzustellen ist."

        # Packages/Server/AdminPanel/Requests/RequestChart.swift

        msgid "{0}: {1} requests, {2} refused, {3} failed"
        msgstr "{0}: {1} Anfragen, {2} abgelehnt, {3} fehlgeschlagen"

        # Packages/Server/AdminPanel/Requests/RequestLine.swift

        msgid "no route"
        msgstr "keine Route"

        msgid "{0} ms"
        msgstr "{0} ms"

        # Packages/Server/AdminPanel/Requests/RequestPages.swift

        msgid "Requests"
        msgstr "Anfragen"

        # Packages/Server/AdminPanel/Requests/RequestWish.swift

        msgid "'after' must be the 'next' value of an earlier response."
        msgstr "„after“ ist nicht das, was eine Antwort als „next“ angab."

        msgid "'{0}' is longer than {1} bytes, or contains U+0000."
        msgstr "„{0}“ ist länger als {1} Bytes oder enthält ein U+0000."

        msgid "Search for a shorter part of it."
        msgstr "Suchen Sie nach einem kürzeren Teil davon."

        msgid "'range' must be latest, day or all, and only latest if requests aren't kept."
        msgstr "„range“ muss latest, day oder all sein, soweit der Server Anfragen aufbewahrt."

        msgid "'show' must be all, slow, refused or failed."
        msgstr "„show“ muss all, slow, refused oder failed sein."

        # Packages/Server/AdminPanel/Requests/RequestsContent.swift

        msgid "In the last {0} minutes: {1} requests, {2} refused (4xx), {3} failed (5xx)."
        msgstr "In den letzten {0} Minuten: {1} Anfragen, {2} abgelehnt (4xx), {3} fehlgeschlagen (5xx)."

        msgid "Found: {0} requests, {1} refused (4xx), {2} failed (5xx)."
        msgstr "Gefunden: {0} Anfragen, {1} abgelehnt (4xx), {2} fehlgeschlagen (5xx)."

        msgctxt "requests"
        msgid "All"
        msgstr "Alle"

        msgctxt "requests"
        msgid "Slow"
        msgstr "Langsame"

        msgctxt "requests"
        msgid "Refused"
        msgstr "Abgelehnte"

        msgctxt "requests"
        msgid "Failed"
        msgstr "Fehlgeschlagene"

        msgid "There is no chart: counting takes longer than {0} seconds."
        msgstr "Es gibt kein Diagramm: Das Zählen dauert länger als {0} Sekunden."

        msgid "{0} request to this server is missing from the log: the database was too slow."
        msgid_plural "{0} requests to this server are missing from the log: the database was too slow."
        msgstr[0] "{0} Anfrage an diesen Server fehlt im Protokoll: Die Datenbank war zu langsam."
        msgstr[1] "{0} Anfragen an diesen Server fehlen im Protokoll: Die Datenbank war zu langsam."

        msgid "No requests match."
        msgstr "Keine Anfragen passen dazu."

        msgid "No requests yet."
        msgstr "Noch keine Anfragen."

        msgid "None since the server started, among those that are kept."
        msgstr "Keine seit dem Start des Servers unter den aufbewahrten."

        msgid "This server, latest"
        msgstr "Dieser Server, neueste"

        msgid "All servers, last day"
        msgstr "Alle Server, letzter Tag"

        msgid "All servers, {0} day"
        msgid_plural "All servers, {0} days"
        msgstr[0] "Alle Server, {0} Tag"
        msgstr[1] "Alle Server, {0} Tage"

        # Packages/Server/AdminPanel/SQL/SQLContent.swift

        msgid "Line {0}, column {1}"
        msgstr "Zeile {0}, Spalte {1}"

        msgid "There are more rows: only the first {0} are shown."
        msgstr "Es gibt mehr Zeilen: Nur die ersten {0} werden angezeigt."

        msgid "There are more rows than a page can show. Select fewer or shorter columns."
        msgstr "Es gibt mehr Zeilen: Mehr als diese kann eine Seite nicht anzeigen. Wählen Sie weniger oder kürzere Spalten."

        msgid "{0} row in {1} ms"
        msgid_plural "{0} rows in {1} ms"
        msgstr[0] "{0} Zeile in {1} ms"
        msgstr[1] "{0} Zeilen in {1} ms"

        # Packages/Server/AdminPanel/SQL/SQLPages.swift

        msgid "SQL"
        msgstr "SQL"

        msgid "SQL shows what the database user may read, not what {0} may see."
        msgstr "SQL zeigt, was der Datenbankbenutzer lesen darf, nicht, was {0} sehen darf."

        # Packages/Server/AdminPanel/Schedule/ScheduleContent.swift

        msgid "View its runs, or run it now"
        msgstr "Läufe ansehen, jetzt ausführen"

        msgid "The backups"
        msgstr "Sicherungen"

        msgid "Your jobs"
        msgstr "Ihre Aufträge"

        msgid "The log"
        msgstr "Protokoll"

        msgid "late"
        msgstr "verspätet"

        msgctxt "job"
        msgid "runs"
        msgstr "läuft"

        msgid "failed"
        msgstr "fehlgeschlagen"

        msgid "idle"
        msgstr "untätig"

        msgid "never ran"
        msgstr "noch nie gelaufen"

        msgid "done"
        msgstr "erledigt"

        msgid "Purge of the trash"
        msgstr "Löschen aus dem Papierkorb"

        msgid "One admin server permanently deletes what has been in the trash long enough."
        msgstr "Ein Admin-Server löscht endgültig, was lange genug im Papierkorb lag."

        msgid "Admin servers copy changes into the audit log."
        msgstr "Admin-Server übertragen Änderungen ins Änderungsprotokoll."

        msgid "continuously"
        msgstr "ständig"

        msgid "Audit log: old months"
        msgstr "Änderungsprotokoll: alte Monate"

        msgid "Admin servers delete months that no longer need to be kept."
        msgstr "Admin-Server löschen Monate, die nicht länger aufbewahrt werden müssen."

        msgid "Admin servers process long-running requests."
        msgstr "Admin-Server bearbeiten Anfragen, die länger dauern."

        msgid "Jobs: old ones"
        msgstr "Aufträge: alte"

        msgid "Admin servers delete jobs that ended long ago."
        msgstr "Admin-Server löschen Aufträge, die vor langer Zeit geendet haben."

        msgid "Requests: old ones"
        msgstr "Anfragen: alte"

        msgid "One admin server deletes requests from the log that no longer need to be kept."
        msgstr "Ein Admin-Server löscht Anfragen aus dem Protokoll, die nicht länger aufbewahrt werden müssen."

        msgid "every 10 minutes"
        msgstr "alle 10 Minuten"

        msgid "Changelog: old changes"
        msgstr "Changelog: alte Änderungen"

        msgid "One gateway deletes changes that no device needs any more."
        msgstr "Ein Gateway löscht Änderungen, die kein Gerät mehr braucht."

        msgid "One admin server makes a backup of the database, and deletes old automatic ones."
        msgstr "Ein Admin-Server sichert die Datenbank und löscht alte automatische Sicherungen."

        msgid "within a minute"
        msgstr "innerhalb einer Minute"

        # Packages/Server/AdminPanel/Schedule/SchedulePages.swift

        msgid "Scheduled jobs"
        msgstr "Geplante Aufträge"

        msgid "The job begins in a moment."
        msgstr "Der Auftrag beginnt gleich."

        # Packages/Server/AdminPanel/SecondFactor/CodePages.swift

        msgid "Enter the code"
        msgstr "Code eingeben"

        # Packages/Server/AdminPanel/SecondFactor/PanelGate.swift

        msgid "Enter the code that your authenticator app shows."
        msgstr "Geben Sie den Code ein, den Ihre Authenticator-App zeigt."

        msgid "Your account requires a second factor. Set it up first."
        msgstr "Ihr Konto verlangt einen zweiten Faktor. Richten Sie ihn zuerst ein."

        # Packages/Server/AdminPanel/SecondFactor/SecondFactorContent.swift

        msgid "{0} recovery code is left."
        msgid_plural "{0} recovery codes are left."
        msgstr[0] "{0} Wiederherstellungscode ist übrig."
        msgstr[1] "{0} Wiederherstellungscodes sind übrig."

        msgid "Set it up"
        msgstr "Einrichten"

        msgid "Set up another app"
        msgstr "Andere App einrichten"

        # Packages/Server/AdminPanel/SecondFactor/SecondFactorPages.swift

        msgid "second factor"
        msgstr "zweiter Faktor"

        msgid "Second factor"
        msgstr "Zweiter Faktor"

        msgid "From now on, you log in with your password alone."
        msgstr "Ab jetzt genügt Ihr Passwort für die Anmeldung."

        msgid "Set up a second factor"
        msgstr "Zweiten Faktor einrichten"

        msgid "Recovery codes"
        msgstr "Wiederherstellungscodes"

        msgid "The second factor was removed. Until they set up another one, they log in with the password alone."
        msgstr "Der zweite Faktor wurde entfernt. Bis die Person einen neuen einrichtet, genügt ihr Passwort für die Anmeldung."

        msgid "Your account requires a second factor."
        msgstr "Ihr Konto verlangt einen zweiten Faktor."

        msgid "Set up another one to replace it."
        msgstr "Richten Sie einen anderen ein, der diesen ersetzt."

        msgid "Your account has no second factor."
        msgstr "Ihr Konto hat keinen zweiten Faktor."

        msgid "You can't remove your own second factor here."
        msgstr "Ihren eigenen zweiten Faktor können Sie hier nicht entfernen."

        msgid "Use your own page: {0}."
        msgstr "Das geht auf Ihrer eigenen Seite: {0}."

        msgid "This account no longer has a second factor."
        msgstr "Dieses Konto hat keinen zweiten Faktor mehr."

        # Packages/Server/AdminPanel/Sessions/PanelCore+Identity.swift

        msgid "Log in first."
        msgstr "Melden Sie sich zuerst an."

        # Packages/Server/AdminPanel/Sessions/PanelForm+Files.swift

        msgid "The form is longer than {0} bytes."
        msgstr "Das Formular ist länger als {0} Bytes."

        msgid "Send less at once."
        msgstr "Senden Sie weniger auf einmal."

        msgid "The form has more than {0} bytes of text."
        msgstr "Das Formular hat mehr als {0} Bytes Text."

        msgid "Go back and shorten a text: a form sends both its original and its new version."
        msgstr "Gehen Sie zurück und kürzen Sie einen Text. Ein Formular schickt jeden so, wie er war, und so, wie er jetzt ist."

        msgid "The file has more than {0} MiB."
        msgstr "Die Datei hat mehr als {0} MiB."

        msgid "Go back, and choose a smaller one."
        msgstr "Gehen Sie zurück und wählen Sie eine kleinere."

        msgid "The form has a field that isn't text."
        msgstr "Das Formular hat ein Feld, das kein Text ist."

        # Packages/Server/AdminPanel/Sessions/PanelForm.swift

        msgid "The body isn't a form."
        msgstr "Der Inhalt der Anfrage ist kein Formular."

        msgid "The form has more than {0} fields."
        msgstr "Das Formular hat mehr als {0} Felder."

        msgid "This form was loaded before you logged in or re-entered your password in another window. Nothing was changed."
        msgstr "Dieses Formular stammt aus der Zeit, bevor Sie sich angemeldet oder Ihr Passwort in einem anderen Fenster noch einmal eingegeben haben. Nichts wurde geändert."

        # Packages/Server/AdminPanel/Sessions/PanelViewing.swift

        msgid "the role {0}"
        msgstr "Rolle {0}"

        msgid "the role {0} in {1}"
        msgstr "Rolle {0} in {1}"

        msgid "You are viewing the panel as {0}, so nothing was changed."
        msgstr "Sie sehen das Panel als {0} an, daher wurde nichts geändert."

        # Packages/Server/AdminPanel/Sessions/RequestOrigin.swift

        msgid "This form was sent from another site, and nothing was changed."
        msgstr "Dieses Formular wurde von einer anderen Website gesendet, und nichts wurde geändert."

        msgid "Open the panel yourself and send the form from there. Any proxy in front must pass on the Host header."
        msgstr "Öffnen Sie das Panel selbst und senden Sie das Formular von dort. Ein Proxy davor muss den Header Host weitergeben."

        # Packages/Server/AdminPanel/Settings/SettingPages.swift

        msgid "Settings"
        msgstr "Einstellungen"

        msgid "{0} has its default value again."
        msgstr "Für {0} gilt wieder der Standard."

        msgid "{0} was changed. All admin servers use it within a few seconds."
        msgstr "{0} wurde geändert. Alle Admin-Server übernehmen das in wenigen Sekunden."

        msgid "{0} has reset this to the default in the meantime. Save again to overwrite it with your value."
        msgstr "{0} hat das inzwischen auf den Standard zurückgesetzt. Speichern Sie noch einmal, wenn Ihr Wert gelten soll."

        msgid "{0} has changed this to {1} in the meantime. Save again to overwrite it with your value."
        msgstr "{0} hat das inzwischen in {1} geändert. Speichern Sie noch einmal, wenn Ihr Wert gelten soll."

        msgid "There is no such setting."
        msgstr "Diese Einstellung gibt es nicht."

        msgid "The settings page lists the ones that can be changed."
        msgstr "Die Seite der Einstellungen enthält die änderbaren."

        msgid "This is set where the server is started, so the panel can't change it."
        msgstr "Das ist dort gesetzt, wo der Server gestartet wird, und lässt sich hier nicht ändern."

        msgid "Remove the variable {0} there and restart the server."
        msgstr "Nehmen Sie dort die Variable {0} weg, und starten Sie den Server neu."

        # Packages/Server/AdminPanel/Settings/SettingState.swift

        msgid "Set back to the default in the panel by {0}"
        msgstr "Im Panel auf den Standard zurückgesetzt von {0}"

        msgid "Changed in the panel by {0}"
        msgstr "Im Panel geändert von {0}"

        # Packages/Server/AdminPanel/Settings/SettingsContent.swift

        msgid "{0}, on a free port"
        msgstr "{0}, an einem freien Port"

        # Packages/Server/AdminPanel/Settings/SettingsPages.swift

        msgid "PostgreSQL {0}, as {1} in the database {2}"
        msgstr "PostgreSQL {0}, als {1} in der Datenbank {2}"

        msgid "The carrier accepted a test mail to {0}. If it doesn't arrive, check the carrier's log and your spam folder."
        msgstr "Der Versanddienst hat eine Testmail an {0} angenommen. Wenn sie nicht ankommt, sehen Sie im Protokoll des Versanddienstes und in Ihrem Spam-Ordner nach."

        # Packages/Server/AdminPanel/Settings/SettingsWarnings.swift

        msgid "This server doesn't send mail: {0} isn't set. Invitations aren't mailed, so people have to pass on the links themselves, and nobody can reset a forgotten password."
        msgstr "Dieser Server versendet keine E-Mails: {0} ist nicht gesetzt. Einladungen werden nicht verschickt, die Links müssen also von Hand weitergegeben werden, und niemand kann ein vergessenes Passwort zurücksetzen."

        msgid "Mails don't reach anybody: {0} stores them in a folder, which is meant for development."
        msgstr "E-Mails erreichen niemanden: {0} legt sie in einem Ordner ab, was für die Entwicklung gedacht ist."

        msgid "Mails can't link to this server because {0} isn't set, so nobody can reset a forgotten password."
        msgstr "E-Mails können keine Links auf diesen Server enthalten: {0} ist nicht gesetzt. Deshalb kann niemand ein vergessenes Passwort zurücksetzen."

        msgid "This page was loaded over HTTP, so the session cookie isn't secure, and anybody on the network can read it. Set {0} and {1}, or name a proxy that speaks HTTPS in {2}."
        msgstr "Diese Seite kam über HTTP, daher ist das Sitzungscookie nicht sicher, und alle im Netzwerk können es lesen. Setzen Sie {0} und {1}, oder nennen Sie in {2} einen Proxy, der HTTPS spricht."

        msgid "Leaked passwords are accepted, except for very common ones: {0} isn't set."
        msgstr "Passwörter, die aus Datenlecks bekannt sind, werden angenommen, außer sehr häufigen: {0} ist nicht gesetzt."

        # Packages/Server/AdminPanel/Translations/PanelLanguages.swift

        msgid "same as the browser"
        msgstr "wie der Browser"

        # Packages/Server/AdminPanel/Trash/EmptyingContent.swift

        msgid "{0} There is more."
        msgstr "{0} Es gibt noch mehr."

        msgid "{0} group"
        msgid_plural "{0} groups"
        msgstr[0] "{0} Gruppe"
        msgstr[1] "{0} Gruppen"

        msgid "{0} in {1} was deleted permanently."
        msgid_plural "{0} in {1} were deleted permanently."
        msgstr[0] "{0} in {1} endgültig gelöscht."
        msgstr[1] "{0} in {1} endgültig gelöscht."

        # Packages/Server/AdminPanel/Trash/EmptyingPages.swift

        msgid "Delete all of it permanently"
        msgstr "Alles endgültig löschen"

        msgid "None of it can be deleted permanently yet: the app keeps it."
        msgstr "Davon kann vorerst nichts endgültig gelöscht werden: Die App behält es."

        msgid "Empty the trash of {0}?"
        msgstr "Papierkorb leeren: {0}?"

        msgid "Empty the trash?"
        msgstr "Papierkorb leeren?"

        msgid "The trash was emptied"
        msgstr "Der Papierkorb wurde geleert"

        msgid "Emptying the trash"
        msgstr "Papierkorb wird geleert"

        msgid "There is nothing in the trash that you may delete permanently."
        msgstr "Im Papierkorb ist nichts, was Sie endgültig löschen dürfen."

        msgid "The form doesn't say where to continue."
        msgstr "Das Formular gibt nicht an, wo es weitergeht."

        msgid "Start over."
        msgstr "Beginnen Sie von vorn."

        # Packages/Server/AdminPanel/Trash/PurgeContent.swift

        msgid "not yet"
        msgstr "noch nicht"

        msgid "no limit"
        msgstr "unbegrenzt"

        # Packages/Server/AdminPanel/Trash/PurgePages.swift

        msgid "Automatic purge"
        msgstr "Automatisches Löschen"

        msgid "{0} What couldn't be deleted is listed below."
        msgstr "{0} Was nicht gelöscht werden konnte, steht unten."

        msgid "Another process is purging the trash."
        msgstr "Ein anderer Prozess löscht gerade aus dem Papierkorb."

        msgid "The list of runs shows its run."
        msgstr "Sein Lauf steht in der Liste der Läufe."

        # Packages/Server/AdminPanel/Trash/RestoreForm.swift

        msgid "The form names an invalid object."
        msgstr "Das Formular nennt ein Objekt, das keines ist."

        msgid "The form has an invalid choice."
        msgstr "Das Formular enthält eine Auswahl, die es nicht gibt."

        # Packages/Server/AdminPanel/Trash/TrashAccess.swift

        msgid "No class with this name has a trash that you may view."
        msgstr "Keine Klasse dieses Namens hat einen Papierkorb, den Sie einsehen dürfen."

        # Packages/Server/AdminPanel/Trash/TrashConfirmContent.swift

        msgid "The app couldn't be asked about every object. Objects that it keeps stay in the trash."
        msgstr "Die App konnte nicht zu allem gefragt werden. Was sie behält, bleibt im Papierkorb."

        # Packages/Server/AdminPanel/Trash/TrashGroupContent.swift

        msgid "Restore all {0}"
        msgstr "Alle {0} wiederherstellen"

        msgid "A live {0} has the same {1}."
        msgstr "Ein aktives Objekt ({0}) stimmt überein bei: {1}."

        msgid "Restore it with another {0}"
        msgstr "Mit anderem Wert wiederherstellen: {0}"

        msgid "Leave it in the trash, and restore the rest"
        msgstr "Im Papierkorb lassen und den Rest wiederherstellen"

        msgid "Move the live {0} into the trash instead"
        msgstr "Stattdessen das aktive Objekt ({0}) in den Papierkorb legen"

        # Packages/Server/AdminPanel/Trash/TrashPages.swift

        msgid "Trash"
        msgstr "Papierkorb"

        msgid "Delete permanently"
        msgstr "Endgültig löschen"

        msgid "the {0} {1}"
        msgstr "{0} {1}"

        msgid "{0} was deleted permanently."
        msgid_plural "{0} were deleted permanently."
        msgstr[0] "{0} endgültig gelöscht."
        msgstr[1] "{0} endgültig gelöscht."

        msgid "There is nothing in the trash at this address."
        msgstr "Unter dieser Adresse ist nichts im Papierkorb."

        msgid "Somebody may have restored it or deleted it permanently. The trash lists what there is."
        msgstr "Vielleicht hat es jemand wiederhergestellt oder endgültig gelöscht. Der Papierkorb zeigt, was es gibt."

        # Packages/Server/AdminService/AdminAddress.swift

        msgid "{0} is '{1}': give the address of this server, without spaces, such as https://admin.example.org."
        msgstr "{0} ist „{1}“: Geben Sie die Adresse dieses Servers ohne Leerzeichen an, etwa https://admin.example.org."

        # Packages/Server/AdminService/Audit/AuditFilter.swift

        msgid "The audit log can't be filtered by one of these parameters."
        msgstr "Nach einem der Parameter lässt sich das Änderungsprotokoll nicht filtern."

        msgid "The filters are {0}."
        msgstr "Es gibt {0}."

        msgid "'{0}' occurs twice."
        msgstr "„{0}“ kommt zweimal vor."

        msgid "Give each parameter once."
        msgstr "Geben Sie jeden Parameter einmal an."

        msgid "'text' is empty."
        msgstr "„text“ ist leer."

        msgid "Leave it out to see all entries."
        msgstr "Lassen Sie es weg, um alle Einträge zu sehen."

        msgid "'limit' must be a number from 1 to {0}."
        msgstr "„limit“ muss eine Zahl von 1 bis {0} sein."

        msgid "'{0}' isn't a date or time."
        msgstr "„{0}“ ist kein Datum und keine Zeit."

        msgid "Write 2026-05-14 or 2026-05-14T13:22:18Z."
        msgstr "Schreiben Sie 2026-05-14 oder 2026-05-14T13:22:18Z."

        msgid "There is no such {0}."
        msgstr "Das gibt es nicht: {0}."

        # Packages/Server/AdminService/Audit/AuditPutBack.swift

        msgid "The body doesn't say what to put back."
        msgstr "Die Anfrage gibt nicht an, was zurückgesetzt werden soll."

        msgid "There is no object with this id."
        msgstr "Es gibt kein Objekt mit dieser ID."

        msgid "The object was deleted."
        msgstr "Das Objekt wurde gelöscht."

        msgid "Put back the entry that deleted it, or a version."
        msgstr "Setzen Sie den Eintrag seiner Löschung oder eine Version zurück."

        msgid "The object is in the trash."
        msgstr "Das Objekt liegt im Papierkorb."

        msgid "Restore it from the trash first."
        msgstr "Stellen Sie es zuerst aus dem Papierkorb wieder her."

        msgid "The object's history has no such entry."
        msgstr "Der Verlauf des Objekts hat diesen Eintrag nicht."

        msgid "The entry didn't change all of these properties."
        msgstr "Der Eintrag hat nicht alle diese Eigenschaften geändert."

        msgid "It changed {0}."
        msgstr "Geändert hat er: {0}."

        msgid "The entry has nothing to put back."
        msgstr "Der Eintrag hat nichts, was sich zurücksetzen lässt."

        msgid "Use the trash's own routes to move objects into the trash and out of it."
        msgstr "In den Papierkorb und wieder heraus kommen Objekte über die eigenen Routen des Papierkorbs."

        msgid "'values' has an unknown property, or a value that doesn't fit its property."
        msgstr "„values“ enthält etwas, das keine Eigenschaft oder kein Wert davon ist."

        msgid "Start from the object's history."
        msgstr "Gehen Sie über den Verlauf des Objekts."

        # Packages/Server/AdminService/Audit/AuditQuery.swift

        msgid "The search took longer than {0} seconds."
        msgstr "Die Suche dauert länger als {0} Sekunden."

        msgid "Give a class, an object or a user, or a shorter period with 'from' and 'to'."
        msgstr "Geben Sie eine Klasse, ein Objekt, einen Benutzer oder mit „from“ und „to“ einen kürzeren Zeitraum an."

        # Packages/Server/AdminService/Audit/AuditView.swift

        msgid "There is no such class."
        msgstr "Diese Klasse gibt es nicht."

        msgid "Not permitted to see the audit log of {0}."
        msgstr "Nicht erlaubt: Sie dürfen das Änderungsprotokoll von {0} nicht sehen."

        # Packages/Server/AdminService/Backups/Backups+People.swift

        msgid "The folder for backups can't be used."
        msgstr "Der Ordner für Sicherungen lässt sich nicht verwenden."

        msgid "There is no such backup."
        msgstr "Diese Sicherung gibt es nicht."

        msgid "It may have been deleted. The list shows the existing ones."
        msgstr "Vielleicht wurde sie gelöscht. Die Liste enthält die vorhandenen."

        msgid "There are already {0} backups, so none was made."
        msgstr "Es gibt schon {0} Sicherungen, daher wurde keine erstellt."

        msgid "First delete some that you don't need."
        msgstr "Löschen Sie zuerst einige, die Sie nicht brauchen."

        msgid "A backup is already being made."
        msgstr "Es wird schon eine Sicherung erstellt."

        msgid "It appears in the list when it's done."
        msgstr "Sie steht in der Liste, sobald sie fertig ist."

        msgid "Wait until it's done."
        msgstr "Warten Sie, bis das fertig ist."

        msgid "{0} backups are already being downloaded."
        msgstr "Es werden schon {0} Sicherungen heruntergeladen."

        msgid "Try again when one of the downloads has finished."
        msgstr "Versuchen Sie es noch einmal, wenn einer der Downloads beendet ist."

        # Packages/Server/AdminService/Backups/ByteSize.swift

        msgid "{0} bytes"
        msgstr "{0} Bytes"

        # Packages/Server/AdminService/Inspector/GatewayInquiry.swift

        msgid "The request is too long."
        msgstr "Die Frage ist zu lang."

        msgid "Use shorter ids."
        msgstr "Fragen Sie mit kürzeren IDs."

        msgid "Too many questions to the gateways are waiting for answers."
        msgstr "Zu viele Fragen an die Gateways warten auf Antwort."

        msgid "Try again in a few seconds."
        msgstr "Versuchen Sie es in ein paar Sekunden noch einmal."

        msgid "It gave no reason."
        msgstr "Es hat keinen Grund genannt."

        # Packages/Server/AdminService/Jobs/JobService.swift

        msgid "jobs that ended long ago were deleted"
        msgstr "vor langer Zeit beendete Aufträge gelöscht"

        # Packages/Server/AdminService/ModelChanges/DocumentEditError+Words.swift

        msgid "There is {0} problem."
        msgid_plural "There are {0} problems."
        msgstr[0] "Es gibt {0} Problem."
        msgstr[1] "Es gibt {0} Probleme."

        msgid "The models or rules in the database have changed since this page was made."
        msgstr "Die Modelle oder Regeln in der Datenbank haben sich geändert, seit diese Seite erstellt wurde."

        msgid "The database user in {0} can't be used. {1}"
        msgstr "Der Datenbankbenutzer in {0} lässt sich nicht verwenden. {1}"

        msgid "The database in {0} can't be reached: {1}"
        msgstr "Die Datenbank in {0} ist nicht erreichbar: {1}"

        msgid "Nothing was done. Check what would happen now, then decide again."
        msgstr "Es wurde nichts ausgeführt. Sehen Sie sich an, was jetzt geschehen würde, und entscheiden Sie neu."

        msgid "Try again in a moment."
        msgstr "Versuchen Sie es gleich noch einmal."

        msgid "docs/database-roles.md explains how to create a user for it."
        msgstr "docs/database-roles.md beschreibt, wie ein Benutzer dafür angelegt wird."

        msgid "See the server's log and PostgreSQL's for details."
        msgstr "Mehr steht in den Protokollen des Servers und von PostgreSQL."

        # Packages/Server/AdminService/ModelChanges/ModelChanges.swift

        msgid "Another model change is under way on this server."
        msgstr "Auf diesem Server läuft schon eine andere Änderung eines Modells."

        # Packages/Server/AdminService/People/GrantClass.swift

        msgid "The request doesn't say which class grants the role."
        msgstr "Es fehlt die Angabe, welche Klasse die Rolle vergibt."

        msgid "No app's rules have grants: see docs/rules.md."
        msgstr "Die Regeln keiner App haben „grants“: siehe docs/rules.md."

        msgid "There is no class '{0}' that grants roles."
        msgstr "Keine Klasse „{0}“ vergibt Rollen."

        msgid "Classes that grant roles: {0}."
        msgstr "Klassen, die es tun: {0}."

        msgid "an object"
        msgstr "ein Objekt"

        msgid "Roles that {0} grants apply everywhere."
        msgstr "Rollen, die {0} vergibt, gelten überall."

        msgid "Leave 'scope' out."
        msgstr "Lassen Sie „scope“ weg."

        msgid "'scope' isn't the key of {0}."
        msgstr "„scope“ ist kein Schlüssel für {0}."

        msgid "The server can't generate keys for {0}."
        msgstr "Der Server kann für {0} keine Schlüssel erzeugen."

        msgid "'role' isn't the name of a role."
        msgstr "„role“ ist nicht der Name einer Rolle."

        msgid "Roles: {0}."
        msgstr "Rollen: {0}."

        msgid "There is no role '{0}'."
        msgstr "Es gibt keine Rolle „{0}“."

        msgid "The role '{0}' applies within {1}."
        msgstr "Die Rolle „{0}“ bezieht sich auf {1}."

        msgid "The role '{0}' applies everywhere."
        msgstr "Die Rolle „{0}“ gilt überall."

        msgid "The {0} that the role is for doesn't exist."
        msgstr "Das Objekt ({0}), auf das sich die Rolle bezieht, gibt es nicht."

        msgid "It may have been deleted."
        msgstr "Vielleicht wurde es gelöscht."

        msgid "The {0} that the role is for is in the trash."
        msgstr "Das Objekt ({0}), auf das sich die Rolle bezieht, liegt im Papierkorb."

        msgid "Try again when somebody has restored it."
        msgstr "Versuchen Sie es noch einmal, wenn es jemand wiederhergestellt hat."

        msgid "Choose what the role is for, or nothing for a role that applies everywhere."
        msgstr "Wählen Sie, worin die Rolle gilt, oder nichts für eine Rolle, die überall gilt."

        msgid "Grant the role in an app or through /api, where the caller chooses the key."
        msgstr "Vergeben Sie die Rolle in einer App oder über /api, wo der Schlüssel gewählt wird."

        msgid "Choose which one."
        msgstr "Wählen Sie aus, worin."

        # Packages/Server/AdminService/People/InvitationDesk+Accepting.swift

        msgid "You are logged in with a different address than the invited one."
        msgstr "Sie sind mit einer anderen Adresse angemeldet als der, für die die Einladung ausgestellt wurde."

        msgid "Log in with that address, or create an account from the invitation's link."
        msgstr "Melden Sie sich mit dieser Adresse an, oder erstellen Sie über den Link der Einladung ein Konto."

        msgid "This invitation wasn't sent by e-mail, so it doesn't prove that the address is yours."
        msgstr "Diese Einladung wurde nicht per E-Mail verschickt und beweist daher nicht, dass die Adresse Ihnen gehört."

        msgid "Log in with an account that has the address, then accept the invitation."
        msgstr "Melden Sie sich mit einem Konto an, das die Adresse hat, und nehmen Sie dann die Einladung an."

        msgid "This invitation isn't valid: its link is incomplete, or a newer invitation has replaced it."
        msgstr "Diese Einladung ist ungültig: Ihr Link ist unvollständig, oder eine neuere Einladung hat sie ersetzt."

        msgid "Use the link in the newest mail."
        msgstr "Verwenden Sie den Link der neuesten E-Mail."

        msgid "The invitation has expired."
        msgstr "Die Einladung ist abgelaufen."

        msgid "Ask for a new one."
        msgstr "Bitten Sie um eine neue."

        msgid "The role '{0}' no longer exists."
        msgstr "Die Rolle „{0}“ gibt es nicht mehr."

        msgid "Ask for a new invitation."
        msgstr "Bitten Sie um eine neue Einladung."

        msgid "The person who invited you may no longer grant the role '{0}'."
        msgstr "Wer Sie eingeladen hat, darf die Rolle „{0}“ nicht mehr vergeben."

        msgid "Ask somebody else for an invitation."
        msgstr "Bitten Sie jemand anderen um eine Einladung."

        msgid "Somebody else has the role '{0}' here, and only one person can have it."
        msgstr "Jemand anderes hat hier die Rolle „{0}“, die nur eine Person haben kann."

        msgid "They can hand it over to you."
        msgstr "Diese Person kann sie Ihnen übergeben."

        msgid "Log in, then accept the invitation."
        msgstr "Melden Sie sich an und nehmen Sie dann die Einladung an."

        msgid "Somebody else got the role at the same time."
        msgstr "Jemand anderes hat die Rolle gleichzeitig bekommen."

        msgid "Check who has it now."
        msgstr "Prüfen Sie, wer sie jetzt hat."

        # Packages/Server/AdminService/People/InvitationDesk.swift

        msgid "This requires a user who is logged in."
        msgstr "Dafür ist ein Benutzer nötig."

        msgid "The invitation has already been accepted."
        msgstr "Die Einladung wurde schon angenommen."

        msgid "There is nothing to do."
        msgstr "Es ist nichts zu tun."

        msgid "The invitation was revoked."
        msgstr "Die Einladung wurde widerrufen."

        msgid "Nothing grants this invitation's role any more."
        msgstr "Nichts vergibt mehr die Rolle dieser Einladung."

        msgid "The app's rules have changed: ask for a new invitation."
        msgstr "Die Regeln der App haben sich geändert: Bitten Sie um eine neue Einladung."

        msgid "It may have been withdrawn."
        msgstr "Vielleicht wurde sie zurückgezogen."

        # Packages/Server/AdminService/People/PeopleRoutes+Asking.swift

        msgid "roles"
        msgstr "Rollen"

        # Packages/Server/AdminService/People/PeopleRoutes+Invitations.swift

        msgid "anyone who is logged in and has a token for their address"
        msgstr "alle, die angemeldet sind, mit einem Token für ihre Adresse"

        # Packages/Server/AdminService/People/RoleTransfer.swift

        msgid "'scope' is missing."
        msgstr "„scope“ fehlt."

        msgid "'to' isn't the id of a user."
        msgstr "„to“ ist nicht die ID eines Benutzers."

        msgid "Somebody else gave the role to another user at the same time."
        msgstr "Jemand anderes hat die Rolle gleichzeitig einem anderen Benutzer gegeben."

        msgid "Check who has it now before you go on."
        msgstr "Prüfen Sie, wer sie jetzt hat, bevor Sie fortfahren."

        msgid "The request doesn't say which role to hand over."
        msgstr "Es fehlt die Angabe, welche Rolle übergeben werden soll."

        msgid "The rules have no role that can be handed over: add 'exclusive' to their grants, see docs/rules.md."
        msgstr "Die Regeln haben keine solche Rolle: Fügen Sie ihren „grants“ „exclusive“ hinzu, siehe docs/rules.md."

        msgid "The role '{0}' can't be handed over, only given and taken away."
        msgstr "Die Rolle „{0}“ wird nicht übergeben, sondern vergeben und entzogen."

        msgid "Roles that can be handed over: {0}."
        msgstr "Rollen, die übergeben werden: {0}."

        msgid "Several users have the role '{0}' here."
        msgstr "Mehrere Benutzer haben hier die Rolle „{0}“."

        msgid "Take it from all but one of them, then hand it over."
        msgstr "Entziehen Sie sie allen bis auf einen und übergeben Sie sie dann."

        msgid "The user already has the role '{0}'."
        msgstr "Der Benutzer hat die Rolle „{0}“ schon."

        msgid "There is no user with this id who can log in."
        msgstr "Es gibt keinen Benutzer mit dieser ID, der sich anmelden kann."

        msgid "Hand it over to somebody with an account, or invite them first."
        msgstr "Übergeben Sie sie jemandem mit einem Konto, oder laden Sie die Person zuerst ein."

        # Packages/Server/AdminService/Permissions/AccountAuthority.swift

        msgid "Not permitted: you can't change whether your own address is verified."
        msgstr "Nicht erlaubt: Sie können nicht selbst sagen, ob Ihre Adresse bestätigt ist."

        msgid "Not permitted: they may see the permission matrix of {0}, but you may not."
        msgstr "Nicht erlaubt: Dort ist die Rechtematrix von {0} sichtbar, die Sie nicht sehen dürfen."

        msgid "Not permitted: they may change the permission matrix of {0}, but you may not."
        msgstr "Nicht erlaubt: Dort ist die Rechtematrix von {0} änderbar, die Sie nicht ändern dürfen."

        msgid "Not permitted: they may {0} objects of {1} that you may not."
        msgstr "Nicht erlaubt: Dort gilt das Recht „{0}“ für Objekte von {1}, für die Sie es nicht haben."

        msgid "Not permitted: they may read properties of {0} that you may not."
        msgstr "Nicht erlaubt: Dort sind Eigenschaften von {0} lesbar, die Sie nicht lesen dürfen."

        msgid "You can't change the account of somebody who may do more than you."
        msgstr "Sie können das Konto von jemandem, der mehr darf als Sie, nicht ändern."

        # Packages/Server/AdminService/Permissions/RouteAccess+Accounts.swift

        msgid "see accounts"
        msgstr "Konten sehen"

        msgid "Not permitted: no role lets you see accounts."
        msgstr "Nicht erlaubt: Keine Rolle erlaubt Ihnen, Konten zu sehen."

        msgid "change accounts"
        msgstr "Konten ändern"

        msgid "Not permitted: no role lets you change accounts."
        msgstr "Nicht erlaubt: Keine Rolle erlaubt Ihnen, Konten zu ändern."

        # Packages/Server/AdminService/Permissions/RouteAccess+AnyMatrix.swift

        msgid "the permission matrix of any app"
        msgstr "die Rechtematrix einer beliebigen App"

        msgid "Not permitted: no app's rules let you {0} its permission matrix."
        msgstr "Nicht erlaubt: Die Regeln keiner App geben Ihnen für deren Rechtematrix das Recht „{0}“."

        # Packages/Server/AdminService/Permissions/RouteAccess+EveryMatrix.swift

        msgid "the permission matrix of every app"
        msgstr "die Rechtematrix jeder App"

        msgid "Not permitted: this page is for super administrators."
        msgstr "Nicht erlaubt: Diese Seite ist für Super-Administratoren."

        msgid "Super administrators may change the permission matrix of every app."
        msgstr "Das sind alle, die die Rechtematrix jeder App ändern dürfen."

        # Packages/Server/AdminService/Permissions/RouteAccess+Inspecting.swift

        msgid "objects of any class"
        msgstr "Objekte einer beliebigen Klasse"

        # Packages/Server/AdminService/Permissions/RouteAccess+Matrix.swift

        msgid "the permission matrix"
        msgstr "die Rechtematrix"

        msgid "No app's rules have a permission matrix."
        msgstr "Die Regeln keiner App haben eine Rechtematrix."

        msgid "Add a section 'matrix' to the rules: see docs/rules.md."
        msgstr "Fügen Sie den Regeln einen Abschnitt „matrix“ hinzu: siehe docs/rules.md."

        msgid "Several apps have a permission matrix."
        msgstr "Mehrere Apps haben eine Rechtematrix."

        msgid "Name one with ?app=: {0}."
        msgstr "Nennen Sie eine mit ?app=: {0}."

        msgid "No app with this name has a permission matrix."
        msgstr "Diese App mit Rechtematrix gibt es nicht."

        msgid "Apps with one: {0}."
        msgstr "Es gibt: {0}."

        # Packages/Server/AdminService/Permissions/ViewAs.swift

        msgid "There is no account with this id that may log in."
        msgstr "Es gibt kein Konto mit dieser ID, das sich anmelden darf."

        msgid "The app '{0}' has no role '{1}' in its matrix."
        msgstr "Die App „{0}“ hat in ihrer Matrix keine Rolle „{1}“."

        msgid "Not permitted: they may see accounts, but you may not."
        msgstr "Nicht erlaubt: Dort sind Konten sichtbar, die Sie nicht sehen dürfen."

        msgid "Not permitted: no role lets you inspect what others see."
        msgstr "Nicht erlaubt: Keine Rolle erlaubt Ihnen anzusehen, was andere sehen."

        msgid "The rules permit it with operations: {inspect: true}; see docs/rules.md."
        msgstr "Die Regeln erlauben es mit operations: {inspect: true}; siehe docs/rules.md."

        msgid "You can't view as somebody who may see more than you."
        msgstr "Sie können das Panel nicht als jemand ansehen, der mehr sehen darf als Sie."

        # Packages/Server/AdminService/Requests/KeptRequests+Reading.swift

        msgid "Choose the last day, a user, or the id of a request."
        msgstr "Wählen Sie den letzten Tag, einen Benutzer oder die ID einer Anfrage."

        # Packages/Server/AdminService/Requests/RequestExpiryService.swift

        msgid "{0} request was deleted"
        msgid_plural "{0} requests were deleted"
        msgstr[0] "{0} Anfrage gelöscht"
        msgstr[1] "{0} Anfragen gelöscht"

        # Packages/Server/AdminService/Restores/Backups+RestoringPeople.swift

        msgid "There is no such database."
        msgstr "Diese Datenbank gibt es nicht."

        msgid "It may have been deleted, or be in use again. The list shows the existing ones."
        msgstr "Vielleicht wurde sie gelöscht oder ist wieder in Gebrauch. Die Liste enthält die vorhandenen."

        # Packages/Server/AdminService/SQL/SQLPower.swift

        msgid "The database user in {0} is a superuser."
        msgstr "Der Datenbankbenutzer in {0} ist ein Superuser."

        msgid "The database user in {0} bypasses row-level security (BYPASSRLS)."
        msgstr "Der Datenbankbenutzer in {0} umgeht Row-Level Security (BYPASSRLS)."

        msgid "The database user in {0} may replicate (REPLICATION)."
        msgstr "Der Datenbankbenutzer in {0} darf replizieren (REPLICATION)."

        msgid "The database user in {0} may create roles (CREATEROLE)."
        msgstr "Der Datenbankbenutzer in {0} darf Rollen anlegen (CREATEROLE)."

        msgid "The database user in {0} is a member of {1}."
        msgstr "Der Datenbankbenutzer in {0} ist Mitglied von {1}."

        msgid "The database user in {0} may read secrets in {1}."
        msgstr "Der Datenbankbenutzer in {0} darf Geheimnisse in {1} lesen."

        msgid "The database user in {0} may write to {1}."
        msgstr "Der Datenbankbenutzer in {0} darf in {1} schreiben."

        # Packages/Server/AdminService/SQL/SQLProblem.swift

        msgid "There is no statement."
        msgstr "Es gibt keine Anweisung."

        msgid "The statement is longer than {0} bytes."
        msgstr "Die Anweisung ist länger als {0} Bytes."

        msgid "This server is already running as many statements as it allows at a time."
        msgstr "Andere Anweisungen laufen, und mehr führt dieser Server nicht gleichzeitig aus."

        msgid "{0} Nothing was run."
        msgstr "{0} Daher wurde nichts ausgeführt."

        msgid "{0} points to a connection pooler in transaction mode, where statements could affect other sessions. Nothing was run."
        msgstr "{0} führt zu einem Connection-Pooler im Transaktionsmodus, in dem Anweisungen andere beeinflussen könnten. Daher wurde nichts ausgeführt."

        msgid "The database in {0} can't be reached. The server's log says why."
        msgstr "Die Datenbank in {0} ist nicht erreichbar. Das Protokoll des Servers nennt den Grund."

        msgid "The result is too large: the database sent more than this page reads."
        msgstr "Die Antwort ist zu groß: Die Datenbank hat mehr gesendet, als diese Seite liest."

        msgid "The statement kept running after its time limit, so its connection was closed."
        msgstr "Die Anweisung lief nach Ablauf ihrer Zeit weiter, daher wurde ihre Verbindung beendet."

        msgid "Enter one."
        msgstr "Geben Sie eine ein."

        msgid "Shorten it."
        msgstr "Kürzen Sie sie."

        msgid "Run it again in a few seconds."
        msgstr "Führen Sie sie in ein paar Sekunden noch einmal aus."

        msgid "docs/database-roles.md explains how to create a user that may only read."
        msgstr "In docs/database-roles.md steht, wie Sie einen Benutzer anlegen, der nur lesen darf."

        msgid "Connect to PostgreSQL directly."
        msgstr "Verbinden Sie sich direkt mit PostgreSQL."

        msgid "Select fewer columns, or the beginning of long ones, such as left(text, 100)."
        msgstr "Wählen Sie weniger Spalten oder nur den Anfang langer Spalten, etwa mit left(text, 100)."

        msgid "A statement may run for only a few seconds. Select less, or use psql."
        msgstr "Eine Anweisung darf nur einige Sekunden laufen. Wählen Sie weniger aus, oder nehmen Sie psql."

        # Packages/Server/AdminService/Schedule/Schedule+Asking.swift

        msgid "No server has ever run this job."
        msgstr "Noch kein Server hat diesen Auftrag ausgeführt."

        msgid "It runs by itself as soon as a server that runs it is started."
        msgstr "Er läuft von selbst, sobald ein Server gestartet wird, der ihn ausführt."

        msgid "This job is already running."
        msgstr "Dieser Auftrag läuft schon."

        msgid "There is no job with this name that you can run."
        msgstr "Es gibt keinen Auftrag dieses Namens, den Sie ausführen können."

        # Packages/Server/AdminService/Schedule/Schedule.swift

        msgid "{0} objects in {1} groups were deleted permanently, {2} groups stayed"
        msgstr "{0} Objekte in {1} Gruppen endgültig gelöscht, {2} Gruppen geblieben"

        msgid "{0} objects in {1} groups were deleted permanently"
        msgstr "{0} Objekte in {1} Gruppen endgültig gelöscht"

        msgid "{0} entries; earlier objects of {1} classes are missing"
        msgstr "{0} Einträge; frühere Objekte von {1} Klassen fehlen"

        msgid "{0} entries"
        msgstr "{0} Einträge"

        msgid "{0} jobs are waiting, {1} are running"
        msgstr "{0} Aufträge warten, {1} sind in Arbeit"

        # Packages/Server/AdminService/Settings/ChangeableSetting.swift

        msgid "Enter a value, or use the default."
        msgstr "Geben Sie einen Wert ein, oder verwenden Sie den Standard."

        msgid "Enter a value."
        msgstr "Geben Sie einen Wert ein."

        msgid "This is longer than {0} bytes."
        msgstr "Das ist länger als {0} Bytes."

        msgid "Leave out line breaks and other control characters."
        msgstr "Lassen Sie Zeilenumbrüche und andere Steuerzeichen weg."

        msgid "Enter an address that begins with https://, without a user or password."
        msgstr "Geben Sie eine Adresse ein, die mit https:// beginnt, ohne Benutzer und Passwort."

        msgid "Enter an address that begins with https:// or http://, without a user or password."
        msgstr "Geben Sie eine Adresse ein, die mit https:// oder http:// beginnt, ohne Benutzer und Passwort."

        msgid "Enter a number of hours from 1 to {0}, or 0 for no automatic backups."
        msgstr "Geben Sie eine Anzahl Stunden von 1 bis {0} ein, oder 0 für keine automatischen Sicherungen."

        msgid "Enter a number of backups from 1 to {0}."
        msgstr "Geben Sie eine Anzahl Sicherungen von 1 bis {0} ein."

        # Packages/Server/AdminService/Settings/MapTiles.swift

        msgid "{0} is '{1}': {2}, such as {3}."
        msgstr "{0} ist „{1}“: {2}, etwa {3}."

        msgid "give the address of a map's tiles, without spaces"
        msgstr "Geben Sie die Adresse der Kacheln einer Karte ohne Leerzeichen an"

        msgid "check the host and the port of the address"
        msgstr "Prüfen Sie Host und Port der Adresse"

        msgid "give an address with https; http is for localhost only"
        msgstr "Geben Sie eine Adresse mit https an, http ist nur für localhost erlaubt"

        msgid "{0} is missing; give an address with {z}, {x} and {y}"
        msgstr "{0} fehlt, geben Sie eine Adresse mit {z}, {x} und {y} an"

        msgid "leave out '#' and all braces other than those of {z}, {x} and {y}"
        msgstr "Lassen Sie „#“ und andere geschweifte Klammern als die von {z}, {x} und {y} weg"

        # Packages/Server/AdminService/Trash+Members.swift

        msgid "There is nothing in the trash with this id."
        msgstr "Im Papierkorb gibt es nichts mit dieser ID."

        msgid "The group has more than {0} objects."
        msgstr "Die Gruppe hat mehr als {0} Objekte."

        msgid "Somebody may have restored it, or deleted it permanently."
        msgstr "Vielleicht hat es jemand wiederhergestellt oder endgültig gelöscht."

        msgid "Choose the objects one by one."
        msgstr "Nehmen Sie sie einzeln."

        # Packages/Server/AdminService/Trash+Panel.swift

        msgid "objects of a class with a trash"
        msgstr "Objekte einer Klasse mit Papierkorb"

        # Packages/Server/AdminService/Trash+Purging.swift

        msgid "Not permitted to delete all the objects permanently."
        msgstr "Nicht erlaubt: Sie dürfen nicht alles davon endgültig löschen."

        msgid "{0} {1} can't be deleted permanently: {2}."
        msgstr "{0} {1} kann nicht endgültig gelöscht werden: {2}."

        msgid "Remove whatever prevents it, or delete the other objects of the group one by one."
        msgstr "Entfernen Sie, was es festhält, oder löschen Sie die anderen Objekte der Gruppe einzeln."

        msgid "'{0}' refers to it"
        msgstr "„{0}“ verweist darauf"

        msgid "another table refers to it"
        msgstr "eine andere Tabelle verweist darauf"

        msgid "it would break '{0}'"
        msgstr "es würde „{0}“ verletzen"

        msgid "the database says '{0}'"
        msgstr "die Datenbank meldet „{0}“"

        # Packages/Server/AdminService/Trash+Restoring.swift

        msgid "Not permitted to restore all the objects."
        msgstr "Nicht erlaubt: Sie dürfen nicht alles davon wiederherstellen."

        msgid "{0} isn't one of the objects to restore."
        msgstr "{0} gehört nicht zu den Objekten, die wiederhergestellt werden sollen."

        msgid "Nothing is left to restore: all the objects would stay in the trash."
        msgstr "Alles soll im Papierkorb bleiben."

        msgid "A restore can only change unique properties of {0}."
        msgstr "Eine Wiederherstellung ändert bei {0} nur eindeutige Eigenschaften."

        msgid "{0} has none."
        msgstr "{0} hat keine."

        msgid "The new {0} of {1} doesn't fit the property's type."
        msgstr "Der neue Wert für {0} bei {1} passt nicht zur Eigenschaft."

        msgid "The new {0} of {1} is refused: {2}"
        msgstr "Der neue Wert für {0} bei {1} wird abgelehnt: {2}"

        msgid "Not permitted to give {0} {1} these values."
        msgstr "Nicht erlaubt: Sie dürfen {0} {1} diese Werte nicht geben."

        msgid "Not permitted to move the live {0} into the trash instead."
        msgstr "Nicht erlaubt: Sie dürfen das aktive Objekt ({0}) nicht stattdessen in den Papierkorb legen."

        msgid "The {0} that this {1} belongs to is in the trash too."
        msgstr "Das Objekt ({0}), zu dem dieses ({1}) gehört, liegt ebenfalls im Papierkorb."

        msgid "Restore the {0} {1} first."
        msgstr "Stellen Sie zuerst {0} {1} wieder her."

        # Packages/Server/AdminService/Trash.swift

        msgid "More than {0} objects would go into the trash with this {1}."
        msgstr "Mit diesem Objekt ({1}) kämen mehr als {0} Objekte in den Papierkorb."

        msgid "First move the objects that link to it into the trash, in parts."
        msgstr "Legen Sie zuerst in Teilen in den Papierkorb, was darauf verweist."

        # Packages/Server/AdminService/TrashAddress.swift

        msgid "The address contains neither an object's id nor a group's."
        msgstr "Die Adresse enthält weder die ID eines Objekts noch die einer Gruppe."

        msgid "Start from the list of the trash."
        msgstr "Gehen Sie über die Liste des Papierkorbs."

        # Packages/Server/AdminService/TrashClash.swift

        msgid "A live {0} has the same {1}; nothing was restored."
        msgstr "Ein aktives Objekt ({0}) stimmt überein bei: {1}; nichts wurde wiederhergestellt."

        msgid "{0} more object clashes."
        msgid_plural "{0} more objects clash."
        msgstr[0] "{0} weiteres Objekt steht im Konflikt."
        msgstr[1] "{0} weitere Objekte stehen im Konflikt."

        # Packages/Server/AdminService/TrashEmptying.swift

        msgid "{0} {1} of this group isn't included, or you may not delete it permanently."
        msgstr "{0} {1} aus dieser Gruppe ist nicht eingeschlossen, oder Sie dürfen es nicht endgültig löschen."

        # Packages/Server/JSONAPI/Description/RequestExamples+Failing.swift

        msgid "Filter the {0} by a field they don't have"
        msgstr "{0} nach einem Feld filtern, das es dort nicht gibt"

        # Packages/Server/JSONAPI/Description/RequestExamples+Writing.swift

        msgid "Create one of the {0}"
        msgstr "Ein Objekt erstellen: {0}"

        msgid "Update one of the {0}"
        msgstr "Ein Objekt ändern: {0}"

        msgid "Move one of the {0} to the trash"
        msgstr "Ein Objekt in den Papierkorb legen: {0}"

        msgid "Delete one of the {0} permanently"
        msgstr "Ein Objekt endgültig löschen: {0}"

        msgid "Change what '{0}' links to"
        msgstr "Ändern, worauf „{0}“ verweist"

        msgid "Add to what '{0}' links to"
        msgstr "Zu dem, worauf „{0}“ verweist, etwas hinzufügen"

        msgid "Remove from what '{0}' links to"
        msgstr "Aus dem, worauf „{0}“ verweist, etwas entfernen"

        # Packages/Server/JSONAPI/Description/RequestExamples.swift

        msgid "List {0}"
        msgstr "{0} auflisten"

        msgid "Read one of the {0}"
        msgstr "Ein Objekt lesen: {0}"

        msgid "Read what '{0}' links to"
        msgstr "Lesen, worauf „{0}“ verweist"

        msgid "Read which resources '{0}' links to"
        msgstr "Lesen, auf welche Ressourcen „{0}“ verweist"

        msgid "Filter the {0}"
        msgstr "{0} filtern"

        msgid "Sort the {0}"
        msgstr "{0} sortieren"

        msgid "Show only some fields of the {0}"
        msgstr "Nur einige Felder zeigen: {0}"

        msgid "List {0} with what they link to"
        msgstr "{0} auflisten, samt allem, worauf sie verweisen"

        msgid "The second page of the {0}, with the total"
        msgstr "Die zweite Seite und die Gesamtzahl: {0}"

        msgid "The page of the {0} after a cursor"
        msgstr "Die Seite nach einem Cursor: {0}"

        # Packages/Server/JSONAPI/Export/ExportPlaces.swift

        msgid "You have {0} exports under way; the limit is {1}."
        msgstr "Sie haben {0} laufende Exporte, höchstens {1} sind möglich."

        msgid "Try again when one of them has finished."
        msgstr "Versuchen Sie es noch einmal, wenn einer davon beendet ist."

        msgid "Your address has {0} exports under way; the limit is {1}."
        msgstr "Von Ihrer Adresse laufen {0} Exporte, höchstens {1} sind möglich."

        msgid "The server has {0} exports under way; the limit is {1}."
        msgstr "Auf dem Server laufen {0} Exporte, höchstens {1} sind möglich."

        # Packages/Server/JSONAPI/Imports/CSVDecoder.swift

        msgid "The file ends inside this quoted cell."
        msgstr "Die Datei endet in dieser Zelle, die in Anführungszeichen steht."

        msgid "Close the quotes, or send the whole file."
        msgstr "Schließen Sie die Anführungszeichen, oder senden Sie die ganze Datei."

        msgid "There is a NUL byte, which text can't contain."
        msgstr "Es gibt ein NUL-Byte, das in keinem Text vorkommt."

        msgid "Save the file as 'CSV UTF-8', and import that. This may be another kind of file."
        msgstr "Speichern Sie die Datei als „CSV UTF-8“ und importieren Sie diese. Vielleicht ist es eine andere Art von Datei."

        msgid "The cell continues after its closing quotes."
        msgstr "Nach den schließenden Anführungszeichen der Zelle steht noch etwas."

        msgid "Double the quotes that belong to the text: \"say \"\"hello\"\"\"."
        msgstr "Verdoppeln Sie Anführungszeichen, die zum Text gehören: \"sag \"\"hallo\"\"\"."

        msgid "The cell contains quotes but doesn't begin with quotes."
        msgstr "In einer Zelle, die nicht mit Anführungszeichen beginnt, stehen Anführungszeichen."

        msgid "Put the whole cell in quotes, and double those that belong to the text."
        msgstr "Setzen Sie die ganze Zelle in Anführungszeichen und verdoppeln Sie die, die zum Text gehören."

        msgid "The cell has more than {0} bytes."
        msgstr "Die Zelle hat mehr als {0} Bytes."

        msgid "Shorten it. If it isn't that long, its quotes may not be closed."
        msgstr "Kürzen Sie sie. Wenn sie nicht so lang ist, sind vielleicht ihre Anführungszeichen nicht geschlossen."

        msgid "The row has more than {0} bytes."
        msgstr "Die Zeile hat mehr als {0} Bytes."

        msgid "Leave some columns out."
        msgstr "Lassen Sie Spalten weg."

        msgid "The row has more than {0} cells."
        msgstr "Die Zeile hat mehr als {0} Zellen."

        msgid "The cell isn't UTF-8, unlike the text before it."
        msgstr "Die Zelle ist kein UTF-8, anders als der Text davor."

        msgid "Save the whole file as 'CSV UTF-8', and import that."
        msgstr "Speichern Sie die ganze Datei als „CSV UTF-8“ und importieren Sie diese."

        # Packages/Server/JSONAPI/Imports/ImportDesk.swift

        msgid "The import has already been started or cancelled: it's {0}."
        msgstr "Der Import wurde schon gestartet oder abgebrochen. Status: {0}."

        msgid "Its page under Jobs shows its result."
        msgstr "Seine Seite unter „Aufträge“ zeigt, was daraus wurde."

        msgid "The file's upload is incomplete."
        msgstr "Die Datei ist nicht vollständig angekommen."

        msgid "Send it again."
        msgstr "Senden Sie sie noch einmal."

        msgid "You have no import of {0} with this number."
        msgstr "Sie haben keinen Import mit dieser Nummer: {0}."

        msgid "The Jobs page lists yours."
        msgstr "Die Seite „Aufträge“ enthält Ihre."

        msgid "The file has {0} rows; the limit for all or nothing is {1}."
        msgstr "Die Datei hat {0} Zeilen; alles oder nichts ist mit höchstens {1} möglich."

        msgid "Clear \"All or nothing\" to import in batches."
        msgstr "Entfernen Sie das Häkchen bei „Alles oder nichts“: Dann wird in Teilen importiert."

        msgid "The import would no longer do what its preview showed."
        msgstr "Der Import würde etwas anderes tun, als seine Vorschau gezeigt hat."

        msgid "Nothing was changed. Ask for another preview, then decide again."
        msgstr "Nichts wurde geändert. Rufen Sie eine neue Vorschau ab und entscheiden Sie neu."

        msgid "Every row is refused."
        msgstr "Jede Zeile wird abgelehnt."

        msgid "Correct the file and send it again, or change the mapping."
        msgstr "Korrigieren Sie die Datei und senden Sie sie noch einmal, oder ordnen Sie die Spalten anders zu."

        # Packages/Server/JSONAPI/Imports/ImportEncoding.swift

        msgid "The file isn't UTF-8, so it was read as Windows-1252. Check names with accents or umlauts."
        msgstr "Die Datei ist kein UTF-8, daher wurde sie als Windows-1252 gelesen. Prüfen Sie Namen mit Akzenten oder Umlauten."

        # Packages/Server/JSONAPI/Imports/ImportFile.swift

        msgid "The file has more than {0} bytes as UTF-8."
        msgstr "Die Datei hat als UTF-8 mehr als {0} Bytes."

        msgid "Import it in parts."
        msgstr "Importieren Sie sie in Teilen."

        msgid "The file has no rows."
        msgstr "Die Datei hat keine Zeilen."

        msgid "Send a header and at least one row, or JSON objects."
        msgstr "Senden Sie eine Kopfzeile und mindestens eine Zeile oder JSON-Objekte."

        msgid "The file has more than {0} rows."
        msgstr "Die Datei hat mehr als {0} Zeilen."

        msgid "The row has {0} cells, but the header has {1}."
        msgstr "Die Zeile hat {0} Zellen, die Kopfzeile {1}."

        msgid "Put cells with separators or line breaks in quotes."
        msgstr "Setzen Sie Zellen mit Trennzeichen oder Zeilenumbrüchen in Anführungszeichen."

        msgid "The column has no name, or its name is longer than {0} bytes."
        msgstr "Die Spalte hat keinen Namen oder einen mit mehr als {0} Bytes."

        msgid "Name every column in the first row."
        msgstr "Benennen Sie in der ersten Zeile jede Spalte."

        msgid "Another column is also called '{0}'."
        msgstr "Eine andere Spalte heißt auch „{0}“."

        msgid "Give each column its own name."
        msgstr "Geben Sie jeder Spalte einen eigenen Namen."

        msgid "The objects have too many different member names, or names that are too long."
        msgstr "Die Objekte haben zu viele verschiedene oder zu lange Namen."

        msgid "The limit is {0} names of {1} bytes."
        msgstr "Höchstens {0} Namen mit {1} Bytes sind möglich."

        # Packages/Server/JSONAPI/Imports/ImportFileError.swift

        msgid "Line {0}: {1}"
        msgstr "Zeile {0}: {1}"

        msgid "Line {0}, column {1}: {2}"
        msgstr "Zeile {0}, Spalte {1}: {2}"

        # Packages/Server/JSONAPI/Imports/ImportMapping+Names.swift

        msgid "Titles are read-only: change '{0}' instead."
        msgstr "Titel sind nur zum Lesen: Ändern Sie stattdessen „{0}“."

        msgid "No member was chosen for it."
        msgstr "Dafür ist nichts gewählt."

        msgid "'{0}' is required."
        msgstr "„{0}“ ist erforderlich."

        msgid "Write a value into the cell."
        msgstr "Schreiben Sie einen Wert in die Zelle."

        msgid "Choose a column for it, or add one to the file."
        msgstr "Wählen Sie dafür eine Spalte, oder ergänzen Sie eine in der Datei."

        msgid "Column '{0}': {1}"
        msgstr "Spalte „{0}“: {1}"

        msgid "'{0}' is required, but no column maps to it."
        msgstr "„{0}“ ist erforderlich, und keine Spalte ist dafür vorgesehen."

        # Packages/Server/JSONAPI/Imports/ImportMapping+Row.swift

        msgid "'{0}' isn't {1}."
        msgstr "„{0}“ passt nicht; erwartet wird {1}."

        msgid "a Boolean"
        msgstr "ein Wahrheitswert"

        msgid "Write true or false."
        msgstr "Schreiben Sie true oder false."

        msgid "an integer of {0} bits"
        msgstr "eine ganze Zahl mit {0} Bit"

        msgid "Write only digits, such as 1200."
        msgstr "Schreiben Sie nur Ziffern, zum Beispiel 1200."

        msgid "a number"
        msgstr "eine Zahl"

        msgid "Write one such as 12.5."
        msgstr "Schreiben Sie zum Beispiel 12.5."

        msgid "a decimal number"
        msgstr "eine Dezimalzahl"

        msgid "Write one such as 12.50."
        msgstr "Schreiben Sie zum Beispiel 12.50."

        msgid "text without U+0000"
        msgstr "Text ohne U+0000"

        msgid "Leave that character out."
        msgstr "Lassen Sie dieses Zeichen weg."

        msgid "a date and time"
        msgstr "ein Datum mit Uhrzeit"

        msgid "Write one such as 2026-05-14T13:22:18Z, or a day such as 2026-05-14."
        msgstr "Schreiben Sie zum Beispiel 2026-05-14T13:22:18Z oder einen Tag wie 2026-05-14."

        msgid "an id"
        msgstr "eine ID"

        msgid "An id has 24 hexadecimal digits."
        msgstr "Eine ID hat 24 Hexadezimalziffern."

        msgid "a UUID"
        msgstr "eine UUID"

        msgid "Write one such as 123e4567-e89b-12d3-a456-426614174000."
        msgstr "Schreiben Sie zum Beispiel 123e4567-e89b-12d3-a456-426614174000."

        msgid "base64"
        msgstr "Base64"

        msgid "Encode the bytes with the characters A-Z, a-z, 0-9, + and /, and with = at the end."
        msgstr "Schreiben Sie die Bytes mit den Zeichen A-Z, a-z, 0-9, + und / und am Ende =."

        msgid "a value of type {0}"
        msgstr "etwas vom Typ {0}"

        msgid "Leave the column out."
        msgstr "Lassen Sie die Spalte weg."

        msgid "The day {0} doesn't exist: that month has {1} days."
        msgstr "Den Tag {0} gibt es nicht: Dieser Monat hat {1} Tage."

        msgid "Write a day from 01 to {0}."
        msgstr "Schreiben Sie einen Tag von 01 bis {0}."

        msgid "a JSON object"
        msgstr "ein JSON-Objekt"

        msgid "Write one such as {\"name\": \"value\"}."
        msgstr "Schreiben Sie zum Beispiel {\"name\": \"value\"}."

        msgid "the id of one of the {0}"
        msgstr "die ID eines Objekts unter „{0}“"

        msgid "Several of the {0} are called '{1}'."
        msgstr "Mehrere Objekte unter „{0}“ heißen „{1}“."

        msgid "Write the id of the one you mean."
        msgstr "Schreiben Sie die ID des gemeinten Objekts."

        msgid "'{0}' is neither the id nor the title of one of the {1}."
        msgstr "„{0}“ ist weder die ID noch der Titel eines Objekts unter „{1}“."

        msgid "Write {0}, or the exact title of one that you can see. {1}"
        msgstr "Schreiben Sie {0} oder den genauen Titel eines Objekts, das Sie sehen können. {1}"

        msgid "a JSON array of at most {0} values"
        msgstr "eine JSON-Liste mit höchstens {0} Werten"

        msgid "Write one such as [\"a\", \"b\"]."
        msgstr "Schreiben Sie zum Beispiel [\"a\", \"b\"]."

        # Packages/Server/JSONAPI/Imports/ImportMapping.swift

        msgid "Create new ones only"
        msgstr "Nur neue erstellen"

        msgid "Update existing ones only"
        msgstr "Nur vorhandene aktualisieren"

        msgid "Create new ones and update existing ones"
        msgstr "Neue erstellen und vorhandene aktualisieren"

        msgid "Two columns map to '{0}'."
        msgstr "Zwei Spalten führen zu „{0}“."

        msgid "Choose 'nothing' for one of them."
        msgstr "Wählen Sie für eine davon „nichts“."

        msgid "No column maps to a member."
        msgstr "Keine Spalte führt zu einem Feld."

        msgid "Map at least one column to something other than 'id'."
        msgstr "Ordnen Sie mindestens eine Spalte etwas anderem als „id“ zu."

        msgid "A column maps to 'id', but rows are matched by {0}."
        msgstr "Eine Spalte führt zu „id“, und Zeilen werden nach {0} zugeordnet."

        msgid "Map it to nothing, or leave 'match' out."
        msgstr "Geben Sie ihr kein Ziel, oder lassen Sie „match“ weg."

        msgid "Rows are matched by {0}, but no column maps to '{1}'."
        msgstr "Zeilen werden nach {0} zugeordnet, und keine Spalte führt zu „{1}“."

        msgid "Map a column to it, or match by something else."
        msgstr "Ordnen Sie dem Feld eine Spalte zu, oder ordnen Sie Zeilen nach etwas anderem zu."

        msgid "An update needs ids."
        msgstr "Eine Aktualisierung braucht IDs."

        msgid "Map a column to 'id', match by something else, or choose another mode."
        msgstr "Ordnen Sie eine Spalte „id“ zu, ordnen Sie Zeilen nach etwas anderem zu, oder wählen Sie einen anderen Modus."

        msgid "{0} have no member '{1}'."
        msgstr "{0}: Es gibt kein Feld „{1}“."

        msgid "Columns map both to '{0}' as a whole and to its members."
        msgstr "Spalten führen zu „{0}“ als Ganzem und zu Feldern darin."

        msgid "Map one of the two to null."
        msgstr "Lassen Sie eines von beiden weg: null."

        # Packages/Server/JSONAPI/Imports/ImportPlanner.swift

        msgid "Choose to update existing ones, or leave the row out."
        msgstr "Wählen Sie, dass vorhandene aktualisiert werden, oder lassen Sie die Zeile weg."

        msgid "The row has no value for {0}, which rows are matched by."
        msgstr "Die Zeile sagt nichts zu {0}, wonach Zeilen zugeordnet werden."

        msgid "Write a value, or leave the row out."
        msgstr "Schreiben Sie einen Wert, oder lassen Sie die Zeile weg."

        msgid "{0} has the same {1}."
        msgstr "{0} stimmt überein bei: {1}."

        msgid "Leave one of the two out."
        msgstr "Lassen Sie eine von beiden weg."

        msgid "{0} of the {1} have this {2}."
        msgstr "{0} Objekte unter „{1}“ haben diesen Wert: {2}."

        msgid "Change all but one of them, or match by id."
        msgstr "Ändern Sie alle bis auf eines, oder ordnen Sie nach ID zu."

        msgid "There is already a resource with this {0}."
        msgstr "Es gibt schon eine Ressource mit diesem Wert: {0}."

        msgid "The resource with this {0} is in the trash."
        msgstr "Was diesen Wert hat ({0}), liegt im Papierkorb."

        msgid "Restore it first, or leave the row out."
        msgstr "Stellen Sie es zuerst wieder her, oder lassen Sie die Zeile weg."

        msgid "None of the {0} that you can see has this {1}."
        msgstr "Unter „{0}“ sehen Sie kein Objekt mit diesem Wert: {1}."

        msgid "Correct the value, choose to create new ones, or leave the row out."
        msgstr "Korrigieren Sie den Wert, wählen Sie, dass neue erstellt werden, oder lassen Sie die Zeile weg."

        msgid "The row has no id."
        msgstr "Die Zeile hat keine ID."

        msgid "Write the id of the resource to change, or leave the row out."
        msgstr "Schreiben Sie die ID dessen, was sie ändert, oder lassen Sie die Zeile weg."

        msgid "Give it one: the server doesn't generate ids for {0}."
        msgstr "Geben Sie ihr eine: Für {0} erzeugt der Server keine IDs."

        msgid "{0} has the same id."
        msgstr "{0} hat dieselbe ID."

        msgid "There is already a resource with this id."
        msgstr "Es gibt schon eine Ressource mit dieser ID."

        # Packages/Server/JSONAPI/Imports/ImportTextDecoder.swift

        msgid "The file ends inside a UTF-16 character."
        msgstr "Die Datei endet mitten in einem UTF-16-Zeichen."

        msgid "Send the whole file."
        msgstr "Senden Sie die ganze Datei."

        msgid "This is an Excel workbook, or another ZIP archive."
        msgstr "Das ist eine Excel-Arbeitsmappe oder ein anderes ZIP-Archiv."

        msgid "This is an Excel workbook in an old format."
        msgstr "Das ist eine Excel-Arbeitsmappe einer alten Version."

        msgid "Save it as 'CSV UTF-8' in Excel, and import that."
        msgstr "Speichern Sie sie in Excel als „CSV UTF-8“ und importieren Sie diese Datei."

        msgid "There is half a character: a UTF-16 surrogate without its other half."
        msgstr "Es gibt ein halbes Zeichen: ein UTF-16-Surrogat ohne seine andere Hälfte."

        msgid "The file is damaged. Save it as 'CSV UTF-8' in the program that wrote it, and import that."
        msgstr "Die Datei ist beschädigt. Speichern Sie sie in dem Programm, das sie geschrieben hat, als „CSV UTF-8“ und importieren Sie diese Datei."

        # Packages/Server/JSONAPI/Imports/ImportUpload.swift

        msgid "The file has more than {0} bytes."
        msgstr "Die Datei hat mehr als {0} Bytes."

        # Packages/Server/JSONAPI/Imports/ImportWorker.swift

        msgid "You no longer have permission to do this: {0}"
        msgstr "Sie dürfen das nicht mehr tun: {0}"

        msgid "Somebody has since given the resource a different {0}."
        msgstr "Jemand hat der Ressource seitdem einen anderen Wert gegeben: {0}."

        msgid "Import the row again, and check what it matches now."
        msgstr "Importieren Sie die Zeile noch einmal und sehen Sie, wozu sie jetzt passt."

        msgid "The row can't be read."
        msgstr "Die Zeile lässt sich nicht lesen."

        # Packages/Server/JSONAPI/Imports/JSONRowsDecoder.swift

        msgid "Send an array of objects, or one object on each line."
        msgstr "Senden Sie ein Array aus Objekten oder ein Objekt pro Zeile."

        msgid "There is something that isn't an object."
        msgstr "Es gibt etwas anderes als ein Objekt."

        msgid "The file ends inside the object that begins here."
        msgstr "Die Datei endet in dem Objekt, das hier beginnt."

        msgid "The file ends inside its array."
        msgstr "Die Datei endet vor ihrem Array."

        msgid "There are two objects on one line."
        msgstr "In einer Zeile stehen zwei Objekte."

        msgid "Begin a new line for each, or send an array."
        msgstr "Beginnen Sie für jedes eine neue Zeile, oder senden Sie ein Array."

        msgid "The object has more than {0} bytes."
        msgstr "Das Objekt hat mehr als {0} Bytes."

        msgid "More than {0} objects and arrays are nested in each other."
        msgstr "Mehr als {0} Objekte und Listen sind ineinander verschachtelt."

        msgid "Send flatter objects."
        msgstr "Senden Sie flachere Objekte."

        msgid "The object isn't valid JSON in UTF-8."
        msgstr "Das Objekt ist kein gültiges JSON in UTF-8."

        msgid "The object has more than {0} members."
        msgstr "Das Objekt hat mehr als {0} Felder."

        msgid "Leave some out."
        msgstr "Lassen Sie einige weg."

        # Packages/Server/JSONAPI/Imports/JobStore+Import.swift

        msgid "You have {0} imports that you haven't started; the limit is {1}."
        msgstr "Sie haben {0} Importe, die Sie nicht gestartet haben, höchstens {1} sind möglich."

        msgid "Start or discard one: the Jobs page lists them."
        msgstr "Starten oder verwerfen Sie einen: Die Seite „Aufträge“ enthält sie."

        msgid "The import was discarded while its file was being uploaded."
        msgstr "Der Import wurde verworfen, während seine Datei unterwegs war."

        msgid "Import the file again."
        msgstr "Importieren Sie die Datei noch einmal."

        # Packages/Server/JSONAPI/JSONAPIRoutes+Export.swift

        msgid "unknown format."
        msgstr "Dieses Format gibt es nicht."

        msgid "Send one of {0}."
        msgstr "Senden Sie eines von: {0}."

        msgid "it must be 'guarded' or 'plain'."
        msgstr "Er ist weder „guarded“ noch „plain“."

        msgid "Leave it out for 'guarded'."
        msgstr "Lassen Sie ihn für „guarded“ weg."

        msgid "it must be 'true' or 'false'."
        msgstr "Er ist weder „true“ noch „false“."

        msgid "Leave it out for 'false'."
        msgstr "Lassen Sie ihn für „false“ weg."

        # Packages/Server/JSONAPI/JSONAPIRoutes+Operations.swift

        msgctxt "may …"
        msgid "change"
        msgstr "ändern"

        # Packages/Server/JSONAPI/JSONAPIRoutes.swift

        msgid "It may be in the trash, or you aren't permitted to see it."
        msgstr "Vielleicht liegt es im Papierkorb, oder Sie dürfen es nicht sehen."

        msgid "The id must be {0}."
        msgstr "Als ID wird erwartet: {0}."

        msgid "There is no resource of type '{0}' with this id."
        msgstr "Es gibt keine Ressource vom Typ „{0}“ mit dieser ID."

        msgid "An id is {0}."
        msgstr "Als ID wird erwartet: {0}."

        msgid "It may be in the trash, or you may not see it."
        msgstr "Vielleicht liegt es im Papierkorb, oder Sie dürfen es nicht sehen."

        # Packages/Server/JSONAPI/Jobs/BulkOrder.swift

        msgid "{0} of the {1} resources don't exist, or you can't see them."
        msgstr "{0} der {1} Ressourcen gibt es nicht, oder Sie können sie nicht sehen."

        msgid "Leave them out. They may be restored by now."
        msgstr "Lassen Sie sie weg. Vielleicht wurden sie inzwischen wiederhergestellt."

        msgid "Leave them out. They may be in the trash by now."
        msgstr "Lassen Sie sie weg. Vielleicht liegen sie inzwischen im Papierkorb."

        msgid "The resources that match aren't the ones that the dry run found."
        msgstr "Es passen andere Ressourcen, als der Probelauf gefunden hat."

        msgid "{0} resources match, but the dry run found {1}."
        msgstr "{0} Ressourcen passen, und der Probelauf hat {1} gefunden."

        msgid "Nothing was changed. Do another dry run before you go on."
        msgstr "Nichts wurde geändert. Machen Sie noch einen Probelauf, bevor Sie fortfahren."

        # Packages/Server/JSONAPI/Jobs/BulkSelection.swift

        msgid "More than {0} resources match, which is the most that a job can have."
        msgstr "Mehr als {0} Ressourcen passen; so viele hat ein Auftrag höchstens."

        msgid "Narrow the selection with filters, and do it in parts."
        msgstr "Grenzen Sie die Auswahl mit Filtern ein und gehen Sie in Teilen vor."

        # Packages/Server/JSONAPI/Jobs/BulkWork.swift

        msgid "Nothing matches."
        msgstr "Nichts passt."

        msgid "Choose other filters."
        msgstr "Wählen Sie andere Filter."

        # Packages/Server/JSONAPI/Jobs/Job.swift

        msgctxt "state of a job"
        msgid "draft"
        msgstr "Entwurf"

        msgctxt "state of a job"
        msgid "queued"
        msgstr "wartet"

        msgctxt "state of a job"
        msgid "running"
        msgstr "läuft"

        msgctxt "state of a job"
        msgid "done"
        msgstr "erledigt"

        msgctxt "state of a job"
        msgid "failed"
        msgstr "fehlgeschlagen"

        msgctxt "state of a job"
        msgid "cancelled"
        msgstr "abgebrochen"

        # Packages/Server/JSONAPI/Jobs/JobRunner.swift

        msgid "One row was refused; nothing was changed."
        msgstr "Eine Zeile wurde abgelehnt; geändert wurde nichts."

        msgid "{0} rows were refused; nothing was changed."
        msgstr "{0} Zeilen wurden abgelehnt; geändert wurde nichts."

        msgid "Somebody else had it locked for more than {0}."
        msgstr "Jemand anderes hielt es länger als {0} gesperrt."

        msgid "Try again."
        msgstr "Versuchen Sie es noch einmal."

        msgid "The account that started this job has been deleted or disabled."
        msgstr "Das Konto, von dem dieser Auftrag kam, gibt es nicht mehr, oder es ist deaktiviert."

        msgid "The class {0} no longer exists."
        msgstr "Die Klasse {0} gibt es nicht mehr."

        # Packages/Server/JSONAPI/Jobs/JobStore.swift

        msgid "This server doesn't know this kind of job."
        msgstr "Diese Art von Auftrag kennt der Server nicht."

        msgid "Ask a server with a newer version."
        msgstr "Ein anderer Server hat eine neuere Version; fragen Sie ihn."

        msgid "You have {0} unfinished jobs; the limit is {1}."
        msgstr "Sie haben {0} Aufträge, die nicht fertig sind, höchstens {1} sind möglich."

        msgid "Wait until one is finished, or cancel one."
        msgstr "Warten Sie, bis einer fertig ist, oder brechen Sie einen ab."

        # Packages/Server/JSONAPI/Jobs/JobWorker.swift

        msgid "There is nothing to change."
        msgstr "Es gibt nichts zu ändern."

        msgid "Choose at least one field."
        msgstr "Wählen Sie mindestens ein Feld."

        msgid "You can no longer see it."
        msgstr "Sie können es nicht mehr sehen."

        msgid "It already had these values."
        msgstr "Es war schon so."

        msgid "It's no longer in the trash."
        msgstr "Es ist nicht mehr im Papierkorb."

        msgid "Somebody has since restored or deleted it."
        msgstr "Inzwischen hat es jemand wiederhergestellt oder gelöscht."

        msgid "It no longer exists, or you can no longer see it."
        msgstr "Es ist weg, oder Sie können es nicht mehr sehen."

        msgid "It already has its old values."
        msgstr "Es ist, wie es war."

        msgid "Somebody has since changed {0}."
        msgstr "Inzwischen hat jemand {0} geändert."

        msgid "Left {0}, which somebody has since changed."
        msgstr "{0} blieb, wie es ist: Das hat inzwischen jemand geändert."

        # Packages/Server/JSONAPI/Jobs/OwnJobs.swift

        msgid "The job has ended: it's {0}."
        msgstr "Der Auftrag ist beendet. Status: {0}."

        msgid "Undo it on its page."
        msgstr "Auf seiner Seite lässt er sich rückgängig machen."

        msgid "The job is under way."
        msgstr "Der Auftrag ist in Arbeit."

        msgid "End it on its page, then undo what it did."
        msgstr "Beenden Sie ihn auf seiner Seite und machen Sie dann rückgängig, was er getan hat."

        msgid "Job {0} undoes this one."
        msgstr "Auftrag {0} macht ihn rückgängig."

        msgid "That job's page shows its progress."
        msgstr "Die Seite jenes Auftrags zeigt, wie weit das ist."

        msgid "A job of kind '{0}' can't be undone."
        msgstr "Ein Auftrag der Art „{0}“ lässt sich nicht rückgängig machen."

        msgid "Start a new job instead."
        msgstr "Erledigen Sie, was Sie möchten, mit einem neuen."

        msgid "The job did nothing."
        msgstr "Der Auftrag hat nichts getan."

        msgid "There is nothing to undo."
        msgstr "Es gibt nichts rückgängig zu machen."

        # Packages/Server/JSONAPI/Jobs/ResourceMembers+Reading.swift

        msgid "'{0}' has more than {1} elements, so the change couldn't be undone."
        msgstr "„{0}“ hat mehr als {1} Elemente, die sich nicht wiederherstellen ließen."

        msgid "Change it by itself, not together with others."
        msgstr "Ändern Sie es einzeln, nicht zusammen mit anderen."

        # Packages/Server/JSONAPI/Query/FieldPath.swift

        msgid "Use a field with one value. Lists can't be filtered or sorted by."
        msgstr "Nehmen Sie ein Feld mit einem einzigen Wert. Nach Listen lässt sich nicht suchen oder sortieren."

        # Packages/Server/JSONAPI/Query/RequestParameters.swift

        msgid "The query has {0} bytes; the limit is {1}."
        msgstr "Die Abfrage hat {0} Bytes, höchstens {1} sind möglich."

        msgid "Send fewer filters at once."
        msgstr "Senden Sie weniger Filter auf einmal."

        msgid "The query has {0} parameters; the limit is {1}."
        msgstr "Die Abfrage hat {0} Parameter, höchstens {1} sind möglich."

        msgid "Parameter '{0}': {1}"
        msgstr "Der Parameter „{0}“: {1}"

        msgid "it has {0} {1}; the limit is {2}."
        msgstr "Er hat {0} {1}, und höchstens {2} sind möglich."

        msgid "Send several requests."
        msgstr "Senden Sie mehrere Anfragen."

        msgid "The query has a parameter that isn't percent-encoded UTF-8: '{0}'."
        msgstr "Die Abfrage hat einen Parameter, der kein prozentkodiertes UTF-8 ist: „{0}“."

        msgid "Encode names and values as RFC 3986 says: é is %C3%A9, and % itself is %25."
        msgstr "Kodieren Sie Namen und Werte nach RFC 3986: é ist %C3%A9, und % selbst ist %25."

        msgid "it's given twice."
        msgstr "Er ist zweimal angegeben."

        msgid "Send it once."
        msgstr "Senden Sie ihn einmal."

        msgid "its value has {0} bytes; the limit is {1}."
        msgstr "Sein Wert hat {0} Byte, und höchstens {1} sind möglich."

        msgid "Send a shorter value."
        msgstr "Senden Sie einen kürzeren Wert."

        msgid "it contains the character U+0000."
        msgstr "Er enthält das Zeichen U+0000."

        # Packages/Server/JSONAPI/Query/ResourceFilter.swift

        msgid "'{0}' isn't an operator for '{1}'."
        msgstr "„{0}“ ist kein Operator für „{1}“."

        msgctxt "it has …"
        msgid "values"
        msgstr "Werte"

        msgid "the text has more than {0} bytes."
        msgstr "Der Text hat mehr als {0} Byte."

        msgid "Send a shorter text."
        msgstr "Senden Sie einen kürzeren Text."

        # Packages/Server/JSONAPI/Query/ResourcePage.swift

        msgid "a number from 1 to {0}"
        msgstr "eine Zahl von 1 bis {0}"

        msgid "it isn't supported here."
        msgstr "Er ist hier nicht bekannt."

        msgid "The page would skip {0} resources; the limit is {1}."
        msgstr "Die Seite beginnt nach {0} Ressourcen, und höchstens {1} lassen sich überspringen."

        msgid "Follow 'links.next' of a list without page[number]: cursors have no limit."
        msgstr "Folgen Sie „links.next“ einer Liste ohne page[number]: Cursor haben keine Grenze."

        msgid "it can't be combined with page[number]."
        msgstr "Er passt nicht zu page[number]."

        msgid "Send one of the two."
        msgstr "Senden Sie einen der beiden."

        msgid "it isn't a cursor for a list in this order."
        msgstr "Er ist kein Cursor einer Liste in dieser Reihenfolge."

        msgid "Take it from 'links.next', with the same 'sort'."
        msgstr "Nehmen Sie ihn aus „links.next“, mit demselben „sort“."

        # Packages/Server/JSONAPI/Query/ResourceQuery.swift

        msgid "There are none."
        msgstr "Es gibt keine."

        msgid "Expected one of: {0}."
        msgstr "Bekannt sind: {0}."

        msgid "the query has more than {0} filters."
        msgstr "Die Abfrage hat mehr als {0} Filter."

        msgid "Use 'in' for several values of one field."
        msgstr "Nehmen Sie „in“ für mehrere Werte eines Felds."

        msgid "This address takes no parameters."
        msgstr "Diese Adresse nimmt keine Parameter."

        msgid "there is no type with this name."
        msgstr "Es gibt keinen Typ dieses Namens."

        msgctxt "it has …"
        msgid "fields"
        msgstr "Felder"

        msgid "'{0}' can't be sorted by."
        msgstr "„{0}“ hat keine Reihenfolge."

        msgid "Sort by an attribute with one value, or by id."
        msgstr "Sortieren Sie nach einem Attribut mit einem einzigen Wert oder nach der ID."

        msgid "it has '{0}' twice."
        msgstr "Er hat „{0}“ zweimal."

        msgid "Name it once."
        msgstr "Nennen Sie es einmal."

        msgctxt "it has …"
        msgid "paths"
        msgstr "Pfade"

        msgid "'{0}' is {1} relationships deep; the limit is {2}."
        msgstr "„{0}“ ist {1} Beziehungen tief, und höchstens {2} sind möglich."

        msgid "Ask for the rest in another request."
        msgstr "Fragen Sie das Übrige in einer weiteren Anfrage ab."

        # Packages/Server/JSONAPI/Reading/ResourceReader+Rows.swift

        msgid "{0} have no field '{1}' with one value."
        msgstr "{0} haben kein Feld „{1}“ mit einem einzigen Wert."

        # Packages/Server/JSONAPI/Reading/ResourceReader+ValueCounts.swift

        msgid "'{0}' has several values."
        msgstr "„{0}“ hat mehrere Werte."

        msgid "Count by a field with one."
        msgstr "Zählen Sie nach einem Feld mit einem einzigen."

        # Packages/Server/JSONAPI/Reading/ResourceReader.swift

        msgid "The answer would include more than {0} resources."
        msgstr "Die Antwort würde mehr als {0} Ressourcen einschließen."

        msgid "Ask for a smaller page with page[size], or for fewer relationships."
        msgstr "Fordern Sie mit page[size] eine kleinere Seite an, oder weniger Beziehungen."

        # Packages/Server/JSONAPI/Schema/ValueText.swift

        msgid "true or false"
        msgstr "true oder false"

        msgid "a whole number from {0} to {1}"
        msgstr "eine ganze Zahl von {0} bis {1}"

        msgid "a number such as {0}"
        msgstr "eine Zahl wie {0}"

        msgid "a decimal number such as {0}"
        msgstr "eine Dezimalzahl wie {0}"

        msgid "a date and time such as {0}"
        msgstr "ein Datum mit Uhrzeit wie {0}"

        msgid "an id of 24 hexadecimal digits"
        msgstr "eine ID aus 24 Hexadezimalziffern"

        # Packages/Server/JSONAPI/Writing/ResourceChange+Fields.swift

        msgid "'{0}' can't be empty."
        msgstr "„{0}“ darf nicht leer sein."

        msgid "Give it a value."
        msgstr "Geben Sie einen Wert an."

        msgid "Send {0}."
        msgstr "Geben Sie {0} an."

        msgid "'{0}' isn't a list."
        msgstr "„{0}“ ist keine Liste."

        msgid "Send a list of values."
        msgstr "Senden Sie eine Liste von Werten."

        msgid "An element must have {0} values."
        msgstr "Ein Element hat {0} Werte."

        msgid "Send a list of that length."
        msgstr "Senden Sie eine Liste mit ebenso vielen."

        msgid "An element can't be null."
        msgstr "Ein Element darf nicht null sein."

        msgid "Send a value that fits."
        msgstr "Senden Sie einen passenden Wert."

        msgid "Two elements have the same 'id'."
        msgstr "Zwei Elemente haben dieselbe „id“."

        msgid "Leave it out for a new element."
        msgstr "Lassen Sie sie für ein neues weg."

        msgid "An element of '{0}'"
        msgstr "Ein Element von „{0}“"

        msgid "'{0}' isn't a list of at most {1} elements."
        msgstr "„{0}“ ist keine Liste mit höchstens {1} Elementen."

        msgid "Send a list."
        msgstr "Senden Sie eine Liste."

        msgid "{0} has no attribute '{1}'."
        msgstr "{0} hat kein Attribut „{1}“."

        msgid "{0} needs '{1}'."
        msgstr "{0} braucht „{1}“."

        msgid "Send it, or leave out everything that needs it."
        msgstr "Senden Sie es, oder lassen Sie alles weg, was es braucht."

        msgid "The value isn't {0}."
        msgstr "Der Wert passt nicht; erwartet wird {0}."

        msgid "Send {0}, without quotes."
        msgstr "Senden Sie {0}, ohne Anführungszeichen."

        msgid "Send {0}, as a JSON string."
        msgstr "Senden Sie {0}, als JSON-String."

        # Packages/Server/JSONAPI/Writing/ResourceChange+Limits.swift

        msgid "A latitude can't be {0} degrees."
        msgstr "Einen Breitengrad von {0} Grad gibt es nicht."

        msgid "A longitude can't be {0} degrees."
        msgstr "Einen Längengrad von {0} Grad gibt es nicht."

        msgid "Send a number from {0} to {1}."
        msgstr "Senden Sie eine Zahl von {0} bis {1}."

        msgid "{0} isn't an allowed value."
        msgstr "{0} gehört nicht zu den möglichen Werten."

        msgid "Send one of: {0}."
        msgstr "Senden Sie einen von: {0}."

        # Packages/Server/JSONAPI/Writing/ResourceChange+Relationships.swift

        msgid "The list has {0} elements; the limit is {1}."
        msgstr "Die Liste hat {0} Elemente, höchstens {1} sind möglich."

        msgid "Write longer lists through sync."
        msgstr "Schreiben Sie längere Listen über Sync."

        msgid "'id' isn't {0}."
        msgstr "„id“ passt nicht; erwartet wird {0}."

        msgid "Send the id of one of the {0}, as a JSON string."
        msgstr "Senden Sie die ID eines Objekts unter „{0}“ als JSON-String."

        msgid "{0} have no relationship '{1}'."
        msgstr "{0} haben keine Beziehung „{1}“."

        # Packages/Server/JSONAPI/Writing/ResourceChange.swift

        msgid "{0} have no such property."
        msgstr "{0} haben keine solche Eigenschaft."

        msgid "Leave it out."
        msgstr "Lassen Sie das weg."

        msgid "{0} have no attribute '{1}'."
        msgstr "{0} haben kein Attribut „{1}“."

        msgid "It's a relationship: send it in 'relationships'."
        msgstr "Das ist eine Beziehung: Senden Sie es dort."

        # Packages/Server/JSONAPI/Writing/ResourceObjects.swift

        msgid "A link points to a resource that doesn't exist."
        msgstr "Eine Verknüpfung führt zu einer Ressource, die es nicht gibt."

        msgid "Send the id of one that exists."
        msgstr "Senden Sie die ID einer vorhandenen."

        # Packages/Server/JSONAPI/Writing/ResourceWriter+Links.swift

        msgid "Send the id of one that exists, and isn't in the trash."
        msgstr "Senden Sie die ID einer vorhandenen, die nicht im Papierkorb liegt."

        # Packages/Server/JSONAPI/Writing/ResourceWriter+Refusals.swift

        msgid "Leave 'id' out, and the server generates one."
        msgstr "Lassen Sie „id“ weg, dann erzeugt der Server eine."

        msgid "Another of the {0} has the same value, which must be unique."
        msgstr "Ein anderes Objekt unter „{0}“ hat denselben Wert, der eindeutig sein muss."

        msgid "Another of the {0} has the same {1}."
        msgstr "Ein anderes Objekt unter „{0}“ stimmt überein bei: {1}."

        msgid "Send another value, or change the other one first."
        msgstr "Senden Sie einen anderen Wert, oder ändern Sie zuerst den anderen."

        msgid "A required value is missing."
        msgstr "Ein erforderlicher Wert fehlt."

        msgid "A link points to a resource that was just removed."
        msgstr "Eine Verknüpfung führt zu einer Ressource, die gerade entfernt wurde."

        msgid "The database doesn't accept the values: {0}."
        msgstr "Die Datenbank nimmt die Werte nicht an: {0}."

        msgid "The database doesn't accept the values: they're out of range."
        msgstr "Die Datenbank nimmt die Werte nicht an: Sie liegen außerhalb des Wertebereichs."

        msgid "Send other values."
        msgstr "Senden Sie andere Werte."

        # Packages/Server/JSONAPI/Writing/ResourceWriter.swift

        msgid "Something else still needs this resource."
        msgstr "Etwas anderes braucht diese Ressource."

        msgid "First remove what links to it."
        msgstr "Entfernen Sie zuerst, was darauf verweist."

        msgid "Leave '{0}' as it is, or ask for a role that may change it."
        msgstr "Lassen Sie „{0}“, wie es ist, oder bitten Sie um eine Rolle, die es ändern darf."

        # Packages/Server/HTTP/Accounts/Routes+APIKeys.swift

        msgid "API keys"
        msgstr "API-Schlüssel"

        # Packages/Server/HTTP/Accounts/Routes+Account.swift

        msgid "account"
        msgstr "Konto"

        # Packages/Server/HTTP/Accounts/Routes+Login.swift

        msgid "this is where access tokens come from"
        msgstr "hier entstehen Zugriffstoken"

        msgid "it asks for a refresh token"
        msgstr "verlangt ein Erneuerungstoken"

        # Packages/Server/HTTP/Accounts/Routes+Registration.swift

        msgid "this is where accounts come from"
        msgstr "hier entstehen Konten"

        # Packages/Server/HTTP/Accounts/Routes+Sessions.swift

        msgid "logins"
        msgstr "Anmeldungen"

        # Packages/Server/HTTP/Application/Routes+Health.swift

        msgid "says only that the process runs"
        msgstr "sagt nur, dass der Prozess läuft"

        msgid "says only whether the database answers"
        msgstr "sagt nur, ob die Datenbank antwortet"

        # Packages/Server/HTTP/Configuration/ServerConfiguration.swift

        msgid "{0} is '{1}': choose optional, everywhere or everybody."
        msgstr "{0} ist „{1}“: Wählen Sie optional, everywhere oder everybody."

        # Packages/Server/HTTP/Edge/EdgeMiddleware.swift

        msgid "{0} is not possible here."
        msgstr "{0} ist hier nicht möglich."

        msgid "Use {0}."
        msgstr "Verwenden Sie {0}."

        # Packages/Server/HTTP/Errors/RequestFailure+Errors.swift

        msgid "The server is busy."
        msgstr "Der Server ist ausgelastet."

        msgid "The request's body is incomplete or isn't valid HTTP."
        msgstr "Der Inhalt der Anfrage bricht ab oder ist kein HTTP."

        msgid "The server could not carry out the request."
        msgstr "Der Server konnte die Anfrage nicht ausführen."

        msgid "The server's log has the details under this request's id."
        msgstr "Einzelheiten stehen im Protokoll des Servers unter der ID dieser Anfrage."

        msgid "Another object already has a value that must be unique."
        msgstr "Ein anderes Objekt hat schon einen Wert, der eindeutig sein muss."

        msgid "Another object already has the same {0}."
        msgstr "Ein anderes Objekt stimmt schon überein bei: {0}."

        msgid "Change it on one of the two, then try again."
        msgstr "Ändern Sie ihn bei einem von beiden und versuchen Sie es dann noch einmal."

        msgid "Change {0} on one of the two, then try again."
        msgstr "Ändern Sie {0} bei einem von beiden und versuchen Sie es dann noch einmal."

        msgid "The answer would be too large."
        msgstr "Die Antwort hätte zu viele Bytes."

        msgid "A function in the database uses a table or a column that no longer exists."
        msgstr "Eine Funktion in der Datenbank verwendet eine Tabelle oder Spalte, die es nicht mehr gibt."

        msgid "It may have been renamed. The server's log has the function under this request's id: change the function, or give the table or the column its old name back."
        msgstr "Vielleicht wurde sie umbenannt. Die Funktion steht im Protokoll des Servers unter der ID dieser Anfrage: Ändern Sie sie, oder geben Sie der Tabelle oder Spalte ihren alten Namen zurück."

        msgid "The server's model is changing."
        msgstr "Das Modell des Servers ändert sich gerade."

        msgid "The database does not answer at the moment."
        msgstr "Die Datenbank antwortet zurzeit nicht."

        msgid "The database refused the change: it would break the rule '{0}'."
        msgstr "Die Datenbank hat es abgelehnt: Es würde die Regel „{0}“ verletzen."

        msgid "The database refused a value."
        msgstr "Die Datenbank hat einen Wert abgelehnt."

        msgid "Try the same request again in a moment."
        msgstr "Versuchen Sie dieselbe Anfrage gleich noch einmal."

        msgid "The server has more requests of this kind than it can hold."
        msgstr "Der Server hat mehr Anfragen dieser Art, als er fassen kann."

        msgid "The request's body is too long."
        msgstr "Der Inhalt der Anfrage ist zu lang."

        msgid "Choose fewer columns, or filter the list."
        msgstr "Wählen Sie weniger Spalten, oder filtern Sie die Liste."

        msgid "The request is malformed."
        msgstr "Die Anfrage ist nicht richtig aufgebaut."

        # Packages/Server/HTTP/Routes/EdgeContext+Parameters.swift

        msgid "The address contains something that isn't an id."
        msgstr "Die Adresse enthält etwas, das keine ID ist."

        # Packages/Server/HTTP/Routes/Operation+Words.swift

        msgctxt "may …"
        msgid "delete"
        msgstr "löschen"

        msgctxt "may …"
        msgid "trash"
        msgstr "in den Papierkorb legen"

        msgctxt "may …"
        msgid "listTrash"
        msgstr "im Papierkorb ansehen"

        msgctxt "may …"
        msgid "restore"
        msgstr "wiederherstellen"

        msgctxt "may …"
        msgid "inspect"
        msgstr "inspizieren"

        msgctxt "may …"
        msgid "purge"
        msgstr "endgültig löschen"

        msgctxt "may …"
        msgid "transfer"
        msgstr "übergeben"

        msgctxt "may …"
        msgid "audit"
        msgstr "im Änderungsprotokoll ansehen"

        msgctxt "permission"
        msgid "{0} {1}"
        msgstr "{1} {0}"

        # Packages/Server/HTTP/Routes/RouteAccess+Class.swift

        msgid "Not permitted."
        msgstr "Nicht erlaubt."

        msgid "Not permitted: no role lets you {0} {1}."
        msgstr "Nicht erlaubt: Keine Rolle gibt Ihnen das Recht „{1} {0}“."

        # Packages/Server/HTTP/Routes/RouteAccess+Roles.swift

        msgctxt "permission"
        msgid "{0} {1} in {2}"
        msgstr "{1} in {2} {0}"

        msgid "permission to {0}"
        msgstr "die Erlaubnis „{0}“"

        msgid "Not permitted: this requires {0}."
        msgstr "Nicht erlaubt. Nötig ist: {0}."

        # Packages/Server/HTTP/Routes/RouteAccess+User.swift

        msgid "own {0}"
        msgstr "für sich selbst: {0}"

        # Packages/Server/HTTP/Routes/RouteAccess.swift

        msgid "everybody: {0}"
        msgstr "alle: {0}"

        msgid "Not permitted: you may not view the trash."
        msgstr "Nicht erlaubt: Sie dürfen den Papierkorb nicht ansehen."

        msgid "There is no {0} with this id."
        msgstr "Zu dieser ID gibt es kein Objekt ({0})."

        # Packages/Server/HTTP/Routes/RouteScope.swift

        msgid "the {0}"
        msgstr "{0}"

        msgid "the {0} of the {1}"
        msgstr "{0} von {1}"

        # Packages/Server/HTTP/Routes/Timeout.swift

        msgid "The request took longer than {0} and was cancelled."
        msgstr "Die Anfrage dauerte länger als {0} und wurde abgebrochen."

        msgid "Try it again, or ask for less at once."
        msgstr "Versuchen Sie es noch einmal; fordern Sie weniger auf einmal an."

        # Packages/Server/HTTP/Rows/TrashReason+Request.swift

        msgid "The reason is longer than {0} bytes."
        msgstr "Der Grund ist länger als {0} Bytes."

        msgid "Say it in fewer words."
        msgstr "Fassen Sie sich kürzer."

        msgid "The reason has control characters."
        msgstr "Der Grund enthält Steuerzeichen."

        msgid "Send plain text."
        msgstr "Senden Sie reinen Text."

        # Packages/Server/Authentication/Accounts/AccountRegistry.swift

        msgid "write it as name@example.org."
        msgstr "bitte in der Form name@example.org schreiben."

        msgid "it is longer than {0} bytes."
        msgstr "mehr als {0} Bytes sind nicht möglich."

        msgid "it contains a space or a control character."
        msgstr "sie enthält ein Leerzeichen oder ein Steuerzeichen."

        msgid "it contains one of {0}, which have a special meaning in mails."
        msgstr "sie enthält eines der Zeichen {0}, die in E-Mails eine andere Bedeutung haben."

        msgid "it needs at least {0} characters."
        msgstr "mindestens {0} Zeichen sind nötig."

        msgid "it appeared in a data leak: choose another."
        msgstr "es ist aus einem Datenleck bekannt; wählen Sie ein anderes."

        msgid "it is empty."
        msgstr "er ist leer."

        # Packages/Server/Authentication/AuthenticationError.swift

        msgid "E-mail or password is wrong."
        msgstr "E-Mail oder Passwort ist falsch."

        msgid "Too many people are logging in at the moment: try again in a few seconds."
        msgstr "Zurzeit melden sich zu viele Personen an: Versuchen Sie es in ein paar Sekunden noch einmal."

        msgid "The login has ended: log in again."
        msgstr "Die Anmeldung ist beendet: Melden Sie sich wieder an."

        msgid "There is no such login, or it has ended."
        msgstr "Diese Anmeldung gibt es nicht, oder sie ist beendet."

        msgid "The access token's account no longer exists."
        msgstr "Das Konto des Zugriffstokens gibt es nicht mehr."

        msgid "This e-mail address cannot be used: {0}"
        msgstr "Diese E-Mail-Adresse kann nicht verwendet werden: {0}"

        msgid "This password cannot be used: {0}"
        msgstr "Dieses Passwort kann nicht verwendet werden: {0}"

        msgid "This name cannot be used: {0}"
        msgstr "Dieser Name kann nicht verwendet werden: {0}"

        msgid "This custom data cannot be used: {0}"
        msgstr "Diese Zusatzdaten können nicht verwendet werden: {0}"

        msgid "There is already an account with this e-mail address: log in, or use another address."
        msgstr "Zu dieser E-Mail-Adresse gibt es schon ein Konto: Melden Sie sich an, oder verwenden Sie eine andere Adresse."

        msgid "This way to log in or register isn't offered here."
        msgstr "Diese Art, sich anzumelden oder zu registrieren, wird hier nicht angeboten."

        msgid "This code is wrong or was already used: wait for the next one."
        msgstr "Dieser Code ist falsch oder wurde schon benutzt: Warten Sie auf den nächsten."

        msgid "This requires a login with a second factor."
        msgstr "Dafür ist eine Anmeldung mit zweitem Faktor nötig."

        msgid "This account has a second factor, and this requires a code from it."
        msgstr "Dieses Konto hat einen zweiten Faktor, und hierfür ist ein Code davon nötig."

        msgid "The app's codes can't be checked any more, because the servers' secret was replaced. Use a recovery code and set the app up again, or have somebody remove the second factor."
        msgstr "Die Codes der App lassen sich nicht mehr prüfen, weil das Geheimnis der Server ersetzt wurde. Verwenden Sie einen Wiederherstellungscode und richten Sie die App neu ein, oder lassen Sie den zweiten Faktor entfernen."

        msgid "This token is wrong, has expired, or was already used: ask for another mail."
        msgstr "Dieses Token ist falsch, abgelaufen oder schon benutzt: Fordern Sie eine neue E-Mail an."

        msgid "There is already an open invitation to this address for this role: send that one again."
        msgstr "Für diese Adresse und diese Rolle gibt es eine offene Einladung: Senden Sie diese noch einmal."

        msgid "Too many invitations: at most {0} from one person and {1} to one object can be open, and each can be sent {2} times. Revoke some first."
        msgstr "Zu viele Einladungen: Höchstens {0} von einer Person und {1} in ein Objekt können offen sein, und jede wird höchstens {2}-mal gesendet. Widerrufen Sie zuerst einige."

        msgid "This server can't send mails."
        msgstr "Dieser Server kann keine E-Mails versenden."

        msgid "Too many attempts, for this account or from your network: try again in a second."
        msgstr "Zu viele Versuche für dieses Konto oder aus Ihrem Netzwerk: Versuchen Sie es in einer Sekunde noch einmal."

        msgid "Too many attempts, for this account or from your network: try again in {0} second."
        msgid_plural "Too many attempts, for this account or from your network: try again in {0} seconds."
        msgstr[0] "Zu viele Versuche für dieses Konto oder aus Ihrem Netzwerk: Versuchen Sie es in {0} Sekunde noch einmal."
        msgstr[1] "Zu viele Versuche für dieses Konto oder aus Ihrem Netzwerk: Versuchen Sie es in {0} Sekunden noch einmal."

        msgid "Too many attempts, for this account or from your network: try again in {0} minute."
        msgid_plural "Too many attempts, for this account or from your network: try again in {0} minutes."
        msgstr[0] "Zu viele Versuche für dieses Konto oder aus Ihrem Netzwerk: Versuchen Sie es in {0} Minute noch einmal."
        msgstr[1] "Zu viele Versuche für dieses Konto oder aus Ihrem Netzwerk: Versuchen Sie es in {0} Minuten noch einmal."

        # Packages/Server/Authentication/Mail/MailDeliveryError.swift

        msgid "The carrier answered with status {0}."
        msgstr "Der Versanddienst antwortete mit Status {0}."

        msgid "The carrier's host refused the connection."
        msgstr "Der Host des Versanddienstes hat die Verbindung abgelehnt."

        msgid "The carrier's host can't be found by its name."
        msgstr "Der Host des Versanddienstes ist unter seinem Namen nicht zu finden."

        msgid "No secure connection to the carrier could be made: TLS failed."
        msgstr "Es kam keine sichere Verbindung zum Versanddienst zustande: TLS ist fehlgeschlagen."

        msgid "The carrier didn't answer in time."
        msgstr "Der Versanddienst hat nicht rechtzeitig geantwortet."

        msgid "The connection to the carrier failed."
        msgstr "Die Verbindung zum Versanddienst ist fehlgeschlagen."

        msgid "The folder {0} can't be written to."
        msgstr "In den Ordner {0} kann nicht geschrieben werden."

        msgid "The program {0} couldn't be started."
        msgstr "Das Programm {0} konnte nicht gestartet werden."

        msgid "The program {0} ended with exit code {1}."
        msgstr "Das Programm {0} endete mit Exit-Code {1}."

        msgid "The program {0} was killed by a signal, which it gets after {1} seconds."
        msgstr "Das Programm {0} wurde durch ein Signal beendet. Nach {1} Sekunden bekommt es eines."

        msgid "Check {0}, which is sent as the bearer token."
        msgstr "Prüfen Sie {0}, das als Bearer-Token mitgesendet wird."

        msgid "Check the address in {0}."
        msgstr "Prüfen Sie die Adresse in {0}."

        msgid "Its own log should say why."
        msgstr "Sein eigenes Protokoll sollte den Grund nennen."

        msgid "Check the host and the port in {0}, and whether the carrier is running."
        msgstr "Prüfen Sie Host und Port in {0} und ob der Versanddienst läuft."

        msgid "Check the host in {0}, and this server's name resolution (DNS)."
        msgstr "Prüfen Sie den Host in {0} und die Namensauflösung (DNS) dieses Servers."

        msgid "The certificate must be valid for the host in {0} and come from an authority that this server trusts, and the port must speak TLS."
        msgstr "Das Zertifikat muss für den Host in {0} gültig sein und von einer Stelle stammen, der dieser Server vertraut, und der Port muss TLS sprechen."

        msgid "Check the address in {0}, whether a firewall keeps this server from connecting to it, and the carrier's load."
        msgstr "Prüfen Sie die Adresse in {0}, ob eine Firewall diesen Server an der Verbindung hindert und ob der Versanddienst überlastet ist."

        msgid "Check the address in {0}, and whether this server may connect to it."
        msgstr "Prüfen Sie die Adresse in {0} und ob dieser Server sich damit verbinden darf."

        msgid "Give this server's user write access to it."
        msgstr "Geben Sie dem Benutzer, unter dem dieser Server läuft, Schreibrechte dafür."

        msgid "Check its path in {0}, and whether this server's user may run it."
        msgstr "Prüfen Sie den Pfad in {0} und ob der Benutzer dieses Servers es ausführen darf."

        msgid "Run it by hand as this server's user. Its own log should say why."
        msgstr "Führen Sie es von Hand als Benutzer dieses Servers aus. Sein eigenes Protokoll sollte den Grund nennen."

        # Packages/Server/Authentication/Passwords/Authenticator+Passwords.swift

        msgid "it is your current password."
        msgstr "es ist Ihr jetziges."

        # Packages/Server/Authentication/Passwords/PasswordWeakness.swift

        msgid "it is one of the most common passwords, or close to one, and among the first that attackers try."
        msgstr "es gehört zu den häufigsten oder weicht kaum von einem davon ab und wird bei Angriffen früh ausprobiert."

        msgid "it is little more than your e-mail address or name, and among the first that attackers try."
        msgstr "es ist kaum mehr als Ihre E-Mail-Adresse oder Ihr Name und wird bei Angriffen früh ausprobiert."

        msgid "it is made of sequences such as 1234, qwerty or aaaa, and among the first that attackers try."
        msgstr "es besteht aus Zeichenfolgen wie 1234, qwerty oder aaaa und wird bei Angriffen früh ausprobiert."

        msgid "it repeats a few characters, and is among the first that attackers try."
        msgstr "es wiederholt wenige Zeichen und wird bei Angriffen früh ausprobiert."

        msgid "Choose one that only you would think of, such as four unrelated words."
        msgstr "Nehmen Sie eines, das nur Sie kennen, etwa vier Wörter, die nicht zusammengehören."

        # Packages/Server/PostgresStore/Audit/AuditFollower.swift

        msgid "{0} month was dropped"
        msgid_plural "{0} months were dropped"
        msgstr[0] "{0} Monat gelöscht"
        msgstr[1] "{0} Monate gelöscht"

        # Packages/Server/PostgresStore/Feed/ChangelogRetention.swift

        msgid "devices may be at tick {0} or later"
        msgstr "Geräte dürfen auf Tick {0} oder später stehen"

        msgid "nothing is old enough"
        msgstr "nichts ist alt genug"

        msgid "{0} partition was dropped"
        msgid_plural "{0} partitions were dropped"
        msgstr[0] "{0} Partition gelöscht"
        msgstr[1] "{0} Partitionen gelöscht"

        msgid "a new partition is in use"
        msgstr "eine neue Partition ist in Gebrauch"

        msgid "waiting for other transactions"
        msgstr "wartet auf andere Transaktionen"

        # Packages/Server/ServerModel/ServerModels+Roles.swift

        msgid "The database refuses to change a grant of '{0}': {1} Nothing was changed."
        msgstr "Die Datenbank lässt eine Vergabe von „{0}“, wie sie ist: {1} Nichts wurde geändert."

        msgid "{0} grant gives the role '{1}'. First take it away from everyone who has it; nothing was changed."
        msgid_plural "{0} grants give the role '{1}'. First take it away from everyone who has it; nothing was changed."
        msgstr[0] "{0} Vergabe gibt die Rolle „{1}“. Entziehen Sie sie zuerst allen, die sie haben; nichts wurde geändert."
        msgstr[1] "{0} Vergaben geben die Rolle „{1}“. Entziehen Sie sie zuerst allen, die sie haben; nichts wurde geändert."

        msgid "{0} grant already gives the role '{1}', although it doesn't exist yet. Delete the grant first, or choose another name; nothing was changed."
        msgid_plural "{0} grants already give the role '{1}', although it doesn't exist yet. Delete the grants first, or choose another name; nothing was changed."
        msgstr[0] "{0} Vergabe gibt die Rolle „{1}“ schon, obwohl es sie noch nicht gibt. Löschen Sie zuerst, was sie gibt, oder wählen Sie einen anderen Namen; nichts wurde geändert."
        msgstr[1] "{0} Vergaben geben die Rolle „{1}“ schon, obwohl es sie noch nicht gibt. Löschen Sie zuerst, was sie gibt, oder wählen Sie einen anderen Namen; nichts wurde geändert."

        # Packages/Server/GatewayService/Inspector/InspectorReason.swift

        msgid "role '{0}' ({1})"
        msgstr "Rolle „{0}“ ({1})"

        msgid "role '{0}' ({1}) would need: {2}"
        msgstr "Rolle „{0}“ ({1}) würde erfordern: {2}"

        msgid "The object is in the trash, so no device has it."
        msgstr "Das Objekt ist im Papierkorb, daher hat es kein Gerät."

        msgid "Restore it with POST /admin/trash/ID/restore on the admin server."
        msgstr "Stellen Sie es im Papierkorb wieder her, oder mit POST /admin/trash/ID/restore des Admin-Servers."

        msgid "There is no {0} with this id, or none that you may inspect."
        msgstr "Es gibt kein Objekt {0} mit dieser ID, oder keines, das Sie inspizieren dürfen."

        msgid "A device may have created it and not uploaded it yet."
        msgstr "Vielleicht hat ein Gerät es geschrieben und noch nicht hochgeladen."

        msgid "The object was written after the newest tick, {0}: devices get it with the next one."
        msgstr "Das Objekt wurde nach Tick {0} geschrieben, dem neuesten: Geräte bekommen es mit dem nächsten."

        msgid "If this doesn't change, no sequencer is running: look at tombolo_sequencer_elected."
        msgstr "Wenn das so bleibt, arbeitet kein Sequencer: Sehen Sie nach tombolo_sequencer_elected."

        msgid "The device has subscribed to it since: its new subscriptions are waiting for the batch in progress."
        msgstr "Das Gerät hat es inzwischen angefordert: Seine neuen Abonnements warten auf den Stapel, der unterwegs ist."

        msgid "The device's version of the app has no class {0}."
        msgstr "Die App-Version des Geräts hat keine Klasse {0}."

        msgid "The device has no subscription to {0}."
        msgstr "Kein Abonnement des Geräts betrifft {0}."

        msgid "None of the device's subscriptions to {0} matches the object ({1} checked)."
        msgstr "Keines der Abonnements des Geräts für {0} passt auf das Objekt ({1})."

        msgid "An unnamed subscription requires {0}"
        msgstr "Das Abonnement ohne Namen verlangt {0}"

        msgid "The subscription '{0}' requires {1}"
        msgstr "Das Abonnement „{0}“ verlangt {1}"

        msgid "The session is in a partition, and {0} has no partition key."
        msgstr "Die Sitzung ist in einer Partition, und {0} hat keine Partitionseigenschaft."

        msgid "The session is in the partition {0}, and the object is in another one."
        msgstr "Das Objekt ist in einer anderen Partition als die Sitzung, die in {0} ist."

        msgid "Its '{0}' is {1}"
        msgstr "Sein „{0}“ ist {1}"

        msgid "The rules don't let the device's user read the object: the {0} decides."
        msgstr "Die Regeln lassen den Benutzer des Geräts das Objekt nicht lesen. Es entscheidet: {0}."

        msgid "The rules don't let the device's user read the object: no role applies to the user."
        msgstr "Die Regeln lassen den Benutzer des Geräts das Objekt nicht lesen: Keine Rolle trifft auf ihn zu."

        msgid "The rules don't let the device's user read the object."
        msgstr "Die Regeln lassen den Benutzer des Geräts das Objekt nicht lesen."

        msgid "It would have to satisfy {0}"
        msgstr "Es müsste erfüllen: {0}"

        msgid "The device has the object, but its version of the app has no property '{0}'."
        msgstr "Das Gerät hat das Objekt, aber seine App-Version hat keine Eigenschaft „{0}“."

        msgid "The device has the object, but the rules hide '{0}' from its user."
        msgstr "Das Gerät hat das Objekt, aber die Regeln verbergen „{0}“ vor seinem Benutzer."

        msgid "The device is connected, but its session isn't open yet: it is {0}."
        msgstr "Das Gerät ist verbunden, aber seine Sitzung ist noch nicht offen. Ihr Zustand: {0}."

        msgid "There is no such user, or the account was deleted or is disabled."
        msgstr "Es gibt keinen solchen Benutzer, oder das Konto ist weg oder deaktiviert."

        msgid "The object is in the batch that the gateway is reading for the device."
        msgstr "Es ist für das Gerät bestimmt und im Stapel, der gerade dafür gelesen wird."

        msgid "{0} bytes of the batch are waiting for the device."
        msgstr "{0} Byte des Stapels warten auf das Gerät."

        msgid "The object is for the device, which hasn't acknowledged the last {0} batches, up to tick {1}."
        msgstr "Es ist für das Gerät bestimmt. Gesendet sind {0} Stapel, bis Tick {1}, deren Anwendung es noch nicht gemeldet hat."

        msgid "{0} bytes are waiting for its connection."
        msgstr "{0} Byte warten auf seine Verbindung."

        msgid "The object is for the device, which is at tick {0}, {1} behind the newest."
        msgstr "Es ist für das Gerät bestimmt, das bei Tick {0} steht, {1} im Rückstand."

        msgid "The device should have the object: the gateway sent it all its changes up to tick {0}, and the device applied them."
        msgstr "Das Gateway nimmt an, dass das Gerät es hat: Ihm wurde alles gesendet, was es bis Tick {0} betrifft, und es hat es angewendet."

        # Packages/Server/GatewayService/Inspector/InspectorView.swift

        msgid "(not shown: it looks at what you may not read)"
        msgstr "(nicht gezeigt: Es geht um etwas, das Sie nicht lesen dürfen)"

        msgid "{0} is {1}"
        msgstr "{0} ist {1}"

        msgid "{0}, but {1}"
        msgstr "{0}, aber {1}"

        # Packages/Core/Model/Document/ModelDocument+Editing.swift

        msgid "There is a retired class {0}: remove its \"retired\" to bring it back, or choose another name."
        msgstr "Es gibt eine stillgelegte Klasse {0}: Entfernen Sie ihr „retired“, um sie zurückzuholen, oder wählen Sie einen anderen Namen."

        msgid "{0} has a retired property {1}: remove its \"retired\" to bring it back, or choose another name."
        msgstr "{0} hat eine stillgelegte Eigenschaft {1}: Entfernen Sie ihr „retired“, um sie zurückzuholen, oder wählen Sie einen anderen Namen."

        msgid "There is no property '{0}'."
        msgstr "Es gibt keine Eigenschaft „{0}“."

        # Packages/Core/Model/Document/ModelDocument+Reading.swift

        msgid "The document has {0} bytes; the limit is {1}."
        msgstr "Das Dokument hat {0} Byte; gelesen werden höchstens {1}."

        msgid "The document isn't valid UTF-8."
        msgstr "Das Dokument ist kein Text in UTF-8."

        msgid "The document isn't valid JSON."
        msgstr "Das Dokument ist kein gültiges JSON."

        msgid "The document isn't valid JSON: {0}"
        msgstr "Das Dokument ist kein gültiges JSON: {0}"

        msgid "Line {0}: \"{1}\" appears twice in one object."
        msgstr "Zeile {0}: „{1}“ steht in einem Objekt zweimal."

        # Packages/Core/Model/Document/ModelDocumentCheck+Sizes.swift

        msgid "The class has too many columns, including those of its embedded objects; the limit is {0}."
        msgstr "Die Klasse hat mit denen ihrer eingebetteten Objekte zu viele Spalten; höchstens {0} sind möglich."

        msgid "The class has {0} columns, including those of its embedded objects; the limit is {1}."
        msgstr "Die Klasse hat mit denen ihrer eingebetteten Objekte {0} Spalten; höchstens {1} sind möglich."

        msgid "A property of an embedded object has more than {0} possible names: remove previous names that no version uses."
        msgstr "Eine Eigenschaft eines eingebetteten Objekts ließe sich unter mehr als {0} Namen ansprechen: Entfernen Sie frühere Namen, die keine Version verwendet."

        msgid "The classes and their lists need more than {0} tables: use fewer lists in embedded classes."
        msgstr "Die Klassen und ihre Listen brauchen mehr als {0} Tabellen: Verwenden Sie weniger Listen in eingebetteten Klassen."

        msgid "The tables need more than {0} columns in total: use fewer embedded objects."
        msgstr "Die Tabellen brauchen zusammen mehr als {0} Spalten: Verwenden Sie weniger eingebettete Objekte."

        msgid "Cycles containing embedded objects are not supported: '{0}.{1}' leads back to {2}. Make one of the classes an Object and link to it."
        msgstr "Kreise mit eingebetteten Objekten werden nicht unterstützt: „{0}.{1}“ führt zurück zu {2}. Machen Sie aus einer der Klassen ein Object, und verweisen Sie darauf."

        msgid "Embedded objects are nested more than {0} levels deep."
        msgstr "Eingebettete Objekte liegen mehr als {0} Ebenen tief ineinander."

        # Packages/Core/Model/Document/ModelDocumentCheck.swift

        msgid "There are {0} classes; the limit is {1}."
        msgstr "Es gibt {0} Klassen; höchstens {1} sind möglich."

        msgid "The class is declared twice."
        msgstr "Die Klasse ist zweimal angegeben."

        msgid "An embedded class can't have a trash: its objects are deleted with their owner."
        msgstr "Eine eingebettete Klasse hat keinen Papierkorb: Ihre Objekte gehen mit ihrem Besitzer."

        msgid "An embedded class can't have unique properties: declare them in the classes that contain it."
        msgstr "Eine eingebettete Klasse hat keine eindeutigen Eigenschaften: Deklarieren Sie sie in den Klassen, die sie haben."

        msgid "The class has {0} properties; the limit is {1}."
        msgstr "Die Klasse hat {0} Eigenschaften; höchstens {1} sind möglich."

        msgid "The property is declared twice."
        msgstr "Die Eigenschaft ist zweimal angegeben."

        msgid "\"values\": {0}"
        msgstr "„values“: {0}"

        msgid "A hint must have 1 to {0} bytes, not {1}."
        msgstr "Ein Hinweis hat 1 bis {0} Byte, nicht {1}."

        msgid "Only a 'string' without \"values\" can be Markdown."
        msgstr "Nur ein „string“ ohne „values“ kann Markdown sein."

        msgid "Only a 'double' can be the latitude or longitude of a \"place\"."
        msgstr "Nur ein „double“ kann Breite oder Länge eines „place“ sein."

        msgid "A {0} can't be a primary key, indexed or encrypted: only values and links can."
        msgstr "Ein {0} kann nicht Primärschlüssel, indiziert oder verschlüsselt sein: Das können nur Werte und Links."

        msgid "An embedded class can't have a primary key: its owner identifies its objects."
        msgstr "Eine eingebettete Klasse hat keinen Primärschlüssel: Ihre Objekte kennt man über ihren Besitzer."

        msgid "An embedded object can be nil: write '{0}?'."
        msgstr "Ein eingebettetes Objekt kann fehlen: Schreiben Sie „{0}?“."

        msgid "A list is never nil: write '{0}'."
        msgstr "Eine Liste ist nie nil: Schreiben Sie „{0}“."

        msgid "A list holds values, links or embedded objects, not '{0}'."
        msgstr "Eine Liste enthält Werte, Links oder eingebettete Objekte, nicht „{0}“."

        msgid "In an embedded class, a list of values is stored in one column: write 'array<{0}>', whose elements can't be nil."
        msgstr "In einer eingebetteten Klasse ist eine Liste von Werten eine Spalte: Schreiben Sie „array<{0}>“, dessen Elemente nicht nil sein können."

        msgid "In an embedded class, a list of values is stored in one column: write 'array<{0}>'."
        msgstr "In einer eingebetteten Klasse ist eine Liste von Werten eine Spalte: Schreiben Sie „array<{0}>“."

        msgid "Only embedded classes store lists in one column: write 'list<…>'."
        msgstr "Nur eingebettete Klassen haben Listen in einer Spalte: Schreiben Sie „list<…>“."

        msgid "'{0}' can't be part of an array."
        msgstr "„{0}“ kann nicht Teil eines Arrays sein."

        msgid "An integer must have 8, 16, 32 or 64 bits, not {0}."
        msgstr "Eine ganze Zahl hat 8, 16, 32 oder 64 Bit, nicht {0}."

        msgid "LinkingObjects are computed on devices and aren't part of a document."
        msgstr "LinkingObjects werden auf Geräten berechnet und gehören nicht in ein Dokument."

        msgid "The class '{0}' isn't in the document."
        msgstr "Die Klasse „{0}“ steht nicht im Dokument."

        msgid "{0} is embedded, so nothing can link to it: write 'embedded<{1}>'."
        msgstr "{0} ist eingebettet, daher kann nichts darauf verweisen: Schreiben Sie „embedded<{1}>“."

        msgid "{0} isn't an embedded class: write 'link<{1}>'."
        msgstr "{0} ist keine eingebettete Klasse: Schreiben Sie „link<{1}>“."

        msgid "There are {0} previous names; the limit is {1}."
        msgstr "Es gibt {0} frühere Namen; höchstens {1} sind möglich."

        msgid "A class with a place needs one property with \"place\": \"latitude\" and one with \"longitude\". Put a second place into an embedded class."
        msgstr "Eine Klasse mit einem Ort hat eine Eigenschaft mit \"place\": \"latitude\" und eine mit \"longitude\". Legen Sie einen zweiten Ort in eine eingebettete Klasse."

        msgid "\"unique\" names '{0}', which isn't a property."
        msgstr "„unique“ nennt „{0}“, das keine Eigenschaft ist."

        msgid "\"unique\" names '{0}', which is a list."
        msgstr "„unique“ nennt „{0}“, das eine Liste ist."

        msgid "\"unique\" has an empty group."
        msgstr "„unique“ hat eine Gruppe ohne einen Namen."

        # Packages/Core/Model/Document/ModelDocumentReader.swift

        msgid "The document must be a JSON object with the members format, app and classes."
        msgstr "Das Dokument muss ein JSON-Objekt mit den Mitgliedern format, app und classes sein."

        msgid "The document has no \"format\", which must be a whole number. Is it a model document? This program reads format {0}."
        msgstr "Das Dokument hat kein „format“, eine ganze Zahl: Ist es ein Modelldokument? Dieses Programm liest Format {0}."

        msgid "The document has format {0}: it was written by a newer version of Tombolo. This program reads format {1}; update it."
        msgstr "Das Dokument hat Format {0}: Es stammt von einer neueren Version von Tombolo. Dieses Programm liest Format {1}; aktualisieren Sie es."

        msgid "The document has format {0}, which doesn't exist."
        msgstr "Das Dokument hat Format {0}, das es nicht gibt."

        msgid "\"{0}\" isn't a member of a document."
        msgstr "„{0}“ ist kein Mitglied eines Dokuments."

        msgid "A class must be a JSON object."
        msgstr "Eine Klasse muss ein JSON-Objekt sein."

        msgid "\"{0}\" isn't a member of a class."
        msgstr "„{0}“ ist kein Mitglied einer Klasse."

        msgid "An embedded class has no table: remove \"table\" or \"embedded\"."
        msgstr "Eine eingebettete Klasse hat keine Tabelle: Entfernen Sie „table“ oder „embedded“."

        msgid "A property must be a JSON object."
        msgstr "Eine Eigenschaft muss ein JSON-Objekt sein."

        msgid "\"{0}\" isn't a member of a property."
        msgstr "„{0}“ ist kein Mitglied einer Eigenschaft."

        msgid "'{0}' isn't a type."
        msgstr "„{0}“ ist kein Typ."

        msgid "\"onDelete\" must be \"cascade\" or \"nullify\", not \"{0}\"."
        msgstr "„onDelete“ ist „cascade“ oder „nullify“, nicht „{0}“."

        msgid "\"place\" must be \"latitude\" or \"longitude\", not \"{0}\"."
        msgstr "„place“ ist „latitude“ oder „longitude“, nicht „{0}“."

        msgid "\"{0}\" is missing."
        msgstr "„{0}“ fehlt."

        msgid "\"{0}\" must be a string."
        msgstr "„{0}“ muss ein Text sein."

        msgid "\"{0}\" must be true or false."
        msgstr "„{0}“ muss true oder false sein."

        msgid "\"{0}\" must be an array."
        msgstr "„{0}“ muss ein Array sein."

        msgid "\"{0}\" has more than {1} elements."
        msgstr "„{0}“ hat mehr als {1} Elemente."

        msgid "\"values\" must be an array of strings or of whole numbers."
        msgstr "„values“ muss ein Array aus Texten oder aus ganzen Zahlen sein."

        msgid "\"{0}\" must be an array of names."
        msgstr "„{0}“ muss ein Array aus Namen sein."

        # Packages/Core/Model/Document/ModelName.swift

        msgid "'{0}' isn't a valid Swift name."
        msgstr "„{0}“ ist kein Name in Swift."

        msgid "'{0}' has characters that Swift names can't contain: use letters, digits and _."
        msgstr "„{0}“ enthält Zeichen, die ein Name in Swift nicht hat: Verwenden Sie Buchstaben, Ziffern und _."

        msgid "The SQL name '{0}' has characters that aren't supported: use letters, digits and _."
        msgstr "Der SQL-Name „{0}“ enthält Zeichen, die nicht unterstützt werden: Verwenden Sie Buchstaben, Ziffern und _."

        msgid "The app's name '{0}' must consist of lower-case letters, digits, - and _, and begin with a letter."
        msgstr "Der Name der App „{0}“ muss aus Kleinbuchstaben, Ziffern, - und _ bestehen und mit einem Buchstaben beginnen."

        msgid "The name is empty."
        msgstr "Der Name ist leer."

        msgid "The name '{0}' has {1} bytes; the limit is {2}."
        msgstr "Der Name „{0}“ hat {1} Byte; höchstens {2} sind möglich."

        # Packages/Core/Model/Schema/AllowedValues.swift

        msgid "'{0}' can't have the value {1}."
        msgstr "„{0}“ kann den Wert {1} nicht haben."

        msgid "There must be at least one value."
        msgstr "Mindestens ein Wert ist nötig."

        msgid "There are {0} values; the limit is {1}."
        msgstr "Es gibt {0} Werte; höchstens {1} sind möglich."

        msgid "A value is listed twice."
        msgstr "Ein Wert ist zweimal angegeben."

        msgid "A value has more than {0} bytes, or contains U+0000."
        msgstr "Ein Wert hat mehr als {0} Byte oder enthält U+0000."

        msgid "The values must be strings or whole numbers."
        msgstr "Die Werte müssen Texte oder ganze Zahlen sein."

        # Packages/Core/Model/Schema/Column.swift

        msgid "'{0}' is required and cannot be nil."
        msgstr "„{0}“ ist erforderlich und kann nicht leer sein."

        msgid "'{0}' is a {1}-bit integer and cannot hold {2}."
        msgstr "„{0}“ ist eine ganze Zahl mit {1} Bit und kann {2} nicht fassen."

        msgid "'{0}' cannot be NaN: use an optional and nil instead."
        msgstr "„{0}“ kann nicht NaN sein: Machen Sie es optional und lassen Sie es leer."

        msgid "'{0}' can hold at most {1} elements, not {2}."
        msgstr "„{0}“ fasst höchstens {1} Elemente, nicht {2}."

        msgid "'{0}' must lie between the years 1 and 9999."
        msgstr "„{0}“ muss zwischen den Jahren 1 und 9999 liegen."

        msgid "'{0}' links to {1} and cannot hold {2}."
        msgstr "„{0}“ verweist auf {1} und kann {2} nicht fassen."

        msgid "'{0}' is of type {1} and cannot hold {2}."
        msgstr "„{0}“ hat den Typ {1} und kann {2} nicht fassen."

        msgid "'{0}' cannot contain U+0000, which PostgreSQL can't store in text."
        msgstr "„{0}“ kann U+0000 nicht enthalten: Der Texttyp des Servers hat dafür keinen Platz."

        msgid "'{0}' can hold at most {1} bytes, not {2}."
        msgstr "„{0}“ fasst höchstens {1} Byte, nicht {2}."

        # Packages/Core/Rules/Explaining/RuleExpression+Need.swift

        msgid "the rule permits nobody"
        msgstr "die Regel erlaubt es niemandem"

        msgid "not {0}, but it holds"
        msgstr "nicht {0}, aber so ist es"

        msgid "{0}, but it is {1}"
        msgstr "{0}, aber es ist {1}"

        msgid "{0}, but {1} is {2}"
        msgstr "{0}, aber {1} ist {2}"

        msgid "{0}, but nobody is logged in"
        msgstr "{0}, aber niemand ist angemeldet"

        msgid "{0}, but the session's partition has no such value"
        msgstr "{0}, aber die Partition der Sitzung hat keinen solchen Wert"

        msgid "{0}, but the user has no such value"
        msgstr "{0}, aber der Benutzer hat keinen solchen Wert"

        msgid "a list of {0}"
        msgstr "eine Liste der Länge {0}"

        msgid "an object with {0} keys"
        msgstr "ein Objekt mit {0} Schlüsseln"

        msgid "{0}, but it is empty"
        msgstr "{0}, aber es ist leer"

        msgid "{0}, but {1} is empty"
        msgstr "{0}, aber {1} ist leer"

        # Packages/Core/Rules/Explaining/RuleNeed.swift

        msgid "one of these:"
        msgstr "eines davon:"

        # Packages/Core/Rules/Explaining/Rules+Explaining.swift

        msgid "a login"
        msgstr "eine Anmeldung"

        # Packages/Core/Rules/Matrix/Rules+Matrix.swift

        msgid "There is no permission matrix."
        msgstr "Es gibt keine Rechtematrix."

        msgid "Not permitted to {0} by the permission matrix: its rule requires {1}."
        msgstr "Nach der Rechtematrix nicht erlaubt ({0}): Ihre Regel verlangt {1}."

        msgid "Not permitted to {0} the permission matrix: its rule requires {1}."
        msgstr "Nicht erlaubt: die Rechtematrix {0}. Ihre Regel verlangt {1}."

        # Packages/Core/Rules/Rules+Partitions.swift

        msgid "the class has no partition key, so it isn't synchronised in Realms of a partition."
        msgstr "die Klasse hat keine Eigenschaft, die die Partition eines Objekts nennt, und wird daher nicht in Realms einer Partition synchronisiert."

        msgid "the Realm's partition is {0}, and {1}"
        msgstr "die Partition des Realms ist {0}. {1}"

        msgid "its '{0}' isn't the Realm's partition, {1}; leave '{2}' empty, or write the object in the Realm of its own partition."
        msgstr "sein „{0}“ ist nicht die Partition des Realms, {1}; lassen Sie „{2}“ leer, oder schreiben Sie das Objekt im Realm seiner eigenen Partition."

        # Packages/Core/Rules/Rules+Requirements.swift

        msgid "Not permitted to {0} this {1} like this: that requires the permission '{2}'."
        msgstr "Nicht erlaubt: {1} so {0}. Nötig ist die Berechtigung „{2}“."

        # Packages/Core/Rules/Rules.swift

        msgid "Not permitted to {0} this {1}: {2}"
        msgstr "Nicht erlaubt: {1} {0}, denn {2}"

        msgid "Not permitted to change the {0} of this {1}: that moves it, and the matrix doesn't permit deleting it in the old {2}."
        msgstr "Nicht erlaubt: „{0}“ ändern ({1}). Das verschiebt das Objekt, und die Matrix erlaubt nicht, es im alten „{2}“ zu löschen."

        msgid "Not permitted to change the {0} of this {1}: that moves it, and the matrix doesn't permit creating it in the new {2}."
        msgstr "Nicht erlaubt: „{0}“ ändern ({1}). Das verschiebt das Objekt, und die Matrix erlaubt nicht, es im neuen „{2}“ zu erstellen."

        msgid "no rule of the role '{0}' allows it"
        msgstr "keine Regel der Rolle „{0}“ erlaubt es"

        msgid "{0} has no rules"
        msgstr "{0} hat keine Regeln"

        msgid "none of its roles applies to this user"
        msgstr "keine ihrer Rollen trifft auf diesen Benutzer zu"

        msgid "Not permitted to change the {0} of this {1}: {2}."
        msgstr "Nicht erlaubt: „{0}“ ändern ({1}), denn {2}."

        msgid "Not permitted to {0} this {1}: {2}."
        msgstr "Nicht erlaubt: {1} {0}, denn {2}."

        # Packages/Core/RuleDocuments/MatrixEditError.swift

        msgid "The rules have no permission matrix."
        msgstr "Die Regeln haben keine Rechtematrix."

        msgid "'{0}' may change {1}, and a role that may change objects may read them. Remove create, update and delete first."
        msgstr "„{0}“ darf {1} verändern, und wer Objekte verändern darf, darf sie auch lesen. Nehmen Sie zuerst Erstellen, Ändern und Löschen weg."

        msgid "'{0}' may not read {1}, and a role that may change objects must be able to read them. Permit read first."
        msgstr "„{0}“ darf {1} nicht lesen, und wer Objekte verändern darf, darf sie auch lesen. Erlauben Sie zuerst das Lesen."

        msgid "The box to {0} {1} would permit nothing: no rule asks for it in a role that applies everywhere."
        msgstr "Das Kästchen „{1} {0}“ würde nichts erlauben: Keine Regel fragt danach, bei einer Rolle, die überall gilt."

        msgid "The box to {0} {1} would permit nothing: no rule asks for it in a role that applies within an object."
        msgstr "Das Kästchen „{1} {0}“ würde nichts erlauben: Keine Regel fragt danach, bei einer Rolle, die innerhalb eines Objekts gilt."

        msgid "The box of '{0}' and '{1}' (line {2}) isn't written as plain letters, or an alias or a merge key shares it with other boxes. Write it out in the document, and apply that."
        msgstr "Das Kästchen von „{0}“ und „{1}“ (Zeile {2}) steht durch einen Alias oder Merge-Schlüssel auch für andere, oder es ist anders als mit einfachen Buchstaben geschrieben. Schreiben Sie es im Dokument aus, und wenden Sie dieses an."

        msgid "The box of '{0}' and '{1}' (line {2}) isn't written as true or false, or an alias or a merge key shares it with other boxes. Write it out in the document, and apply that."
        msgstr "Das Kästchen von „{0}“ und „{1}“ (Zeile {2}) steht durch einen Alias oder Merge-Schlüssel auch für andere, oder es ist nicht als true oder false geschrieben. Schreiben Sie es im Dokument aus, und wenden Sie dieses an."

        msgid "A role can't be called '{0}': {1}"
        msgstr "Eine Rolle kann nicht „{0}“ heißen: {1}"

        msgid "The rules name the role '{0}' on line {1}, so it belongs to the app. Change its boxes, or change the document and apply it."
        msgstr "Die Regeln nennen die Rolle „{0}“ in Zeile {1}, daher gehört sie zur App. Ändern Sie ihre Kästchen, oder ändern Sie das Dokument und wenden Sie es an."

        msgid "The role '{0}' can't be changed, because of how the rules list roles (line {1}): write 'grants', its 'roles' and the matrix without aliases and merge keys, one role after the other."
        msgstr "Die Regeln führen Rollen so auf, dass die Rolle „{0}“ sich darin nicht ändern lässt (Zeile {1}): Schreiben Sie „grants“, dessen „roles“ und die Matrix ohne Aliase und Merge-Schlüssel, eine Rolle nach der anderen."

        # Packages/Core/RuleDocuments/RuleText+Roles.swift

        msgid "it must have 1 to {0} letters, digits, '-' and '_', and begin with a letter."
        msgstr "Nötig sind 1 bis {0} Buchstaben, Ziffern, „-“ und „_“, mit einem Buchstaben am Anfang."

        msgid "the name is reserved."
        msgstr "Der Name bedeutet etwas anderes."

        msgid "there is already a role '{0}'."
        msgstr "Es gibt eine Rolle „{0}“."

        msgid "the rules already use this word on line {0}."
        msgstr "Die Regeln verwenden das Wort in Zeile {0}."

        # Packages/Tools/Migration/Editing/DatabaseMigrations.swift

        msgid "\"app\" is '{0}': this is the model of '{1}', whose name stays."
        msgstr "„app“ ist „{0}“: Dies ist das Modell von „{1}“, dessen Name bleibt."

        # Packages/Server/AdminPanel/Templates/account.mustache

        msgid "Disabled"
        msgstr "Deaktiviert"

        msgid "E-mail address"
        msgstr "E-Mail-Adresse"

        msgid "Logs in with"
        msgstr "Meldet sich an mit"

        msgid "Roles"
        msgstr "Rollen"

        msgid "Custom data"
        msgstr "Zusatzdaten"

        msgid "View as {{name}}"
        msgstr "Ansehen als {{name}}"

        msgid "Mail a link to set a password"
        msgstr "Link zum Festlegen eines Passworts mailen"

        msgid "Remove the second factor"
        msgstr "Zweiten Faktor entfernen"

        msgid "Devices and logins"
        msgstr "Geräte und Anmeldungen"

        msgid "Nobody is logged in to this account."
        msgstr "Mit diesem Konto ist niemand angemeldet."

        msgid "Logged in with"
        msgstr "Angemeldet mit"

        msgid "Since"
        msgstr "Seit"

        msgid "Last used"
        msgstr "Zuletzt benutzt"

        msgid "Action"
        msgstr "Aktion"

        msgid "(this one)"
        msgstr "(diese)"

        msgid "End the login of {{device}}"
        msgstr "Anmeldung von {{device}} beenden"

        msgid "End"
        msgstr "Beenden"

        msgid "End all logins"
        msgstr "Alle Anmeldungen beenden"

        # Packages/Server/AdminPanel/Templates/account_confirm.mustache

        msgid "Cancel"
        msgstr "Abbrechen"

        # Packages/Server/AdminPanel/Templates/account_new.mustache

        msgid "Show the account"
        msgstr "Konto anzeigen"

        msgid "The new person gets a mail with a link to a page where they choose a password. The link is good for {{days}} days."
        msgstr "Die neue Person bekommt eine E-Mail mit einem Link zu einer Seite, auf der sie ein Passwort festlegt. Der Link ist {{days}} Tage gültig."

        msgid "This server can't mail the new person a link to choose a password: that requires <1>TOMBOLO_MAIL</1> and <2>TOMBOLO_ADMIN_URL</2>. Its operator can set a password with <3>migration-tool user password ADDRESS</3>. Until then, nobody can log in to the account."
        msgstr "Dieser Server kann der neuen Person keinen Link zum Festlegen eines Passworts mailen: Dafür sind <1>TOMBOLO_MAIL</1> und <2>TOMBOLO_ADMIN_URL</2> nötig. Wer ihn betreibt, kann mit <3>migration-tool user password ADDRESS</3> ein Passwort festlegen. Bis dahin kann sich niemand mit dem Konto anmelden."

        msgid "E-mail"
        msgstr "E-Mail"

        msgid "Name"
        msgstr "Name"

        msgid "The account has no roles until somebody gives it some."
        msgstr "Das Konto hat keine Rollen, bis ihm jemand welche gibt."

        msgid "Add the account"
        msgstr "Konto hinzufügen"

        # Packages/Server/AdminPanel/Templates/accounts.mustache

        msgid "Everybody who can log in, in any app."
        msgstr "Alle, die sich anmelden können, in jeder App."

        msgid "Name, address or id"
        msgstr "Name, Adresse oder ID"

        msgid "Show"
        msgstr "Anzeigen"

        msgid "No accounts match."
        msgstr "Keine Konten passen."

        msgid "Logins"
        msgstr "Anmeldungen"

        msgid "Pages of the list"
        msgstr "Seiten der Liste"

        msgid "Previous"
        msgstr "Vorherige"

        msgid "Page {{page}}"
        msgstr "Seite {{page}}"

        msgid "Next"
        msgstr "Nächste"

        # Packages/Server/AdminPanel/Templates/api.mustache

        msgid "Programs use <1>JSON:API 1.1</1> at <2>{{apiPath}}</2>. They see and change what the rules let their user see and change, as this panel does."
        msgstr "Programme verwenden <1>JSON:API 1.1</1> unter <2>{{apiPath}}</2>. Sie sehen und ändern, was die Regeln ihrem Benutzer erlauben, genau wie dieses Panel."

        msgid "This stores an access token in the variable TOKEN, which the examples use. Replace PASSWORD with your password. If you have a second factor, send a code too, as the member \"code\"."
        msgstr "Dies schreibt ein Zugriffstoken in die Variable TOKEN, die die Beispiele verwenden. Setzen Sie Ihr Passwort anstelle von PASSWORD ein. Wenn Sie einen zweiten Faktor haben, senden Sie im Feld \"code\" auch einen Code."

        msgid "Log in, as a command"
        msgstr "Anmelden, als Befehl"

        msgid "Classes"
        msgstr "Klassen"

        msgid "Class"
        msgstr "Klasse"

        msgid "You may"
        msgstr "Sie dürfen"

        msgid "There are no classes that you may read. Ask an administrator for a role."
        msgstr "Es gibt keine Klassen, die Sie lesen dürfen. Bitten Sie die Administration um eine Rolle."

        msgid "More"
        msgstr "Mehr"

        msgid "<1>{{apiPath}}/openapi.json</1> describes all classes as OpenAPI 3.1, for tools. It covers what any user could be allowed to do."
        msgstr "<1>{{apiPath}}/openapi.json</1> beschreibt alle Klassen als OpenAPI 3.1, für Werkzeuge. Enthalten ist alles, was irgendein Benutzer dürfen könnte."

        msgid "<1>{{apiPath}}/operations</1> makes several changes at once, all or none."
        msgstr "<1>{{apiPath}}/operations</1> macht mehrere Änderungen auf einmal, alle oder keine."

        msgid "The documentation has the rest: docs/json-api.md, and docs/jobs.md for exports, imports and bulk actions."
        msgstr "Alles Weitere steht in der Dokumentation: docs/json-api.md, und docs/jobs.md für Exporte, Importe und Sammelaktionen."

        # Packages/Server/AdminPanel/Templates/api_class.mustache

        msgid "What you may see and do at <1>{{address}}</1>. <2>Show the list</2>."
        msgstr "Was Sie unter <1>{{address}}</1> sehen und tun dürfen. <2>Liste anzeigen</2>."

        msgid "This stores an access token in the variable TOKEN, which the examples use. Replace PASSWORD with your password."
        msgstr "Dies schreibt ein Zugriffstoken in die Variable TOKEN, die die Beispiele verwenden. Setzen Sie Ihr Passwort anstelle von PASSWORD ein."

        msgid "Fields"
        msgstr "Felder"

        msgid "Field"
        msgstr "Feld"

        msgid "Type"
        msgstr "Typ"

        msgid "On creation"
        msgstr "Beim Erstellen"

        msgid "Access"
        msgstr "Zugriff"

        msgid "Leads to"
        msgstr "Verweist auf"

        msgid "Filters and order"
        msgstr "Filter und Sortierung"

        msgid "Operators"
        msgstr "Operatoren"

        msgid "Sortable"
        msgstr "Sortierbar"

        msgid "without an operator, <1>eq</1> applies."
        msgstr "ohne Operator ist <1>eq</1> gemeint."

        msgid "{{title}}, as a command"
        msgstr "{{title}}, als Befehl"

        msgid "Errors"
        msgstr "Fehler"

        msgid "Every error says what is wrong, where, and what to do. The response to this request is {{status}}:"
        msgstr "Jeder Fehler sagt, was falsch ist, wo, und was zu tun ist. Diese Anfrage wird mit {{status}} beantwortet:"

        msgid "An error response"
        msgstr "Die Antwort mit einem Fehler"

        # Packages/Server/AdminPanel/Templates/audit.mustache

        msgid "Operation"
        msgstr "Operation"

        msgid "Source"
        msgstr "Quelle"

        msgid "Object's id"
        msgstr "ID des Objekts"

        msgid "User's address or id"
        msgstr "Adresse oder ID des Benutzers"

        msgid "From (UTC)"
        msgstr "Ab (UTC)"

        msgid "Before (UTC)"
        msgstr "Vor (UTC)"

        msgid "Text"
        msgstr "Text"

        msgid "Search"
        msgstr "Suchen"

        msgid "Show everything"
        msgstr "Alles anzeigen"

        msgid "Changes, newest first; the log is complete until <1>{{upTo}}</1>"
        msgstr "Änderungen, neueste zuerst; das Protokoll ist vollständig bis <1>{{upTo}}</1>"

        msgid "Changes, newest first"
        msgstr "Änderungen, neueste zuerst"

        msgid "When (UTC)"
        msgstr "Wann (UTC)"

        msgid "Object"
        msgstr "Objekt"

        msgid "Who"
        msgstr "Wer"

        msgid "What"
        msgstr "Was"

        msgid "When"
        msgstr "Wann"

        msgid "Pages of the log"
        msgstr "Seiten des Protokolls"

        msgid "Older"
        msgstr "Ältere"

        msgid "No changes match. <1>Show everything</1>, or search for something else."
        msgstr "Keine Änderungen passen. <1>Alles anzeigen</1> oder nach etwas anderem suchen."

        # Packages/Server/AdminPanel/Templates/backup_delete.mustache

        msgid "<1>This can't be undone.</1> The backup {{name}} is deleted from the server's disk. Copies that were downloaded stay."
        msgstr "<1>Das lässt sich nicht rückgängig machen.</1> Die Sicherung {{name}} wird von der Festplatte des Servers gelöscht. Heruntergeladene Kopien bleiben."

        msgid "Delete the backup"
        msgstr "Sicherung löschen"

        # Packages/Server/AdminPanel/Templates/backups.mustache

        msgid "To turn them on, set <1>TOMBOLO_BACKUPS</1> to a folder and <2>TOMBOLO_BACKUP_URL</2> to a database user that may read everything, and restart the server. The page <3>docs/backups.md</3> has the steps."
        msgstr "Um sie einzuschalten, setzen Sie <1>TOMBOLO_BACKUPS</1> auf einen Ordner und <2>TOMBOLO_BACKUP_URL</2> auf einen Datenbankbenutzer, der alles lesen darf, und starten Sie den Server neu. Die Schritte stehen in <3>docs/backups.md</3>."

        msgid "Backups of the whole database, in <1>{{folder}}</1> on this server. {{schedule}} Backups made by hand stay until somebody deletes them."
        msgstr "Sicherungen der ganzen Datenbank, in <1>{{folder}}</1> auf diesem Server. {{schedule}} Von Hand gemachte Sicherungen bleiben, bis jemand sie löscht."

        msgid "They are restored with <1>pg_restore</1>, or here with <2>TOMBOLO_RESTORE_URL</2>: see <3>docs/backups.md</3>."
        msgstr "Wiederhergestellt werden sie mit <1>pg_restore</1>, oder hier mit <2>TOMBOLO_RESTORE_URL</2>: siehe <3>docs/backups.md</3>."

        msgid "Backups can't currently be restored here. {{.}}"
        msgstr "Sicherungen lassen sich hier zurzeit nicht wiederherstellen. {{.}}"

        msgid "Make a backup now"
        msgstr "Jetzt eine Sicherung erstellen"

        msgid "There are no backups yet."
        msgstr "Es gibt noch keine Sicherungen."

        msgid "A backup contains everything: all records, accounts and password hashes. Keep downloads as safe as the database."
        msgstr "Eine Sicherung enthält alles: alle Objekte, Konten und Passwort-Hashes. Bewahren Sie Downloads so sicher auf wie die Datenbank."

        msgid "Made"
        msgstr "Erstellt"

        msgid "Size"
        msgstr "Größe"

        msgid "By"
        msgstr "Von"

        msgid "Took"
        msgstr "Dauer"

        msgid "PostgreSQL"
        msgstr "PostgreSQL"

        msgid "Actions"
        msgstr "Aktionen"

        msgid "Download<1> {{name}}</1>"
        msgstr "Herunterladen<1>: {{name}}</1>"

        msgid "Restore…<1> {{name}}</1>"
        msgstr "Wiederherstellen …<1> {{name}}</1>"

        msgid "Delete…<1> {{name}}</1>"
        msgstr "Löschen…<1> {{name}}</1>"

        msgid "Backups that failed"
        msgstr "Fehlgeschlagene Sicherungen"

        msgid "Began"
        msgstr "Beginn"

        msgid "What went wrong"
        msgstr "Was schiefging"

        msgid "Databases that were put aside"
        msgstr "Beiseitegelegte Datenbanken"

        msgid "Each was in use until a backup or another of these databases replaced it. Nobody writes to them. They take up disk space until somebody deletes them."
        msgstr "Jede war in Gebrauch, bis eine Sicherung oder eine andere von diesen ihren Platz einnahm. Niemand schreibt in sie. Sie belegen Speicherplatz, bis jemand sie löscht."

        msgid "In use until"
        msgstr "In Gebrauch bis"

        msgid "Bring back…<1> {{name}}</1>"
        msgstr "Zurückholen …<1> {{name}}</1>"

        msgid "Restores"
        msgstr "Wiederherstellungen"

        msgid "Outcome"
        msgstr "Ergebnis"

        # Packages/Server/AdminPanel/Templates/bulk_clash.mustache

        msgid "{{message}} Nothing was changed."
        msgstr "{{message}} Nichts wurde geändert."

        msgid "The matching objects have changed since you looked. Check what would happen now before you go on."
        msgstr "Die passenden Objekte haben sich seit Ihrem letzten Blick geändert. Prüfen Sie, was jetzt geschehen würde, bevor Sie fortfahren."

        msgid "See what would happen now"
        msgstr "Zeigen, was jetzt geschehen würde"

        # Packages/Server/AdminPanel/Templates/bulk_fields.mustache

        msgid "{{about}}. Tick the fields to change, and choose the new values. The next page shows what would happen."
        msgstr "{{about}}. Wählen Sie die Felder aus, die geändert werden sollen, und die neuen Werte. Die nächste Seite zeigt, was geschehen würde."

        msgid "Continue"
        msgstr "Weiter"

        msgid "Change {{label}}"
        msgstr "{{label}} ändern"

        msgid "See what would happen"
        msgstr "Zeigen, was geschehen würde"

        # Packages/Server/AdminPanel/Templates/bulk_trial.mustache

        msgid "New values:"
        msgstr "Neue Werte:"

        msgid "None of those tried would be refused."
        msgstr "Keines der geprüften Objekte würde abgelehnt."

        msgid "The job runs in the background, even if you close this page. Its page shows the progress, and has a button to undo it."
        msgstr "Der Auftrag läuft im Hintergrund, auch wenn Sie diese Seite schließen. Seine Seite zeigt den Fortschritt und hat eine Schaltfläche, um ihn rückgängig zu machen."

        msgid "<1>This can't be undone</1>: the class has no trash."
        msgstr "<1>Das lässt sich nicht rückgängig machen</1>: Die Klasse hat keinen Papierkorb."

        msgid "Reason <1>(optional; shown in the trash)</1>"
        msgstr "Grund <1>(optional; wird im Papierkorb angezeigt)</1>"

        msgid "All of them would be refused, so there is nothing to start. <1>Back to the list</1>"
        msgstr "Alle würden abgelehnt, daher gibt es nichts zu starten. <1>Zurück zur Liste</1>"

        msgid "There are no objects left to change. <1>Back to the list</1>"
        msgstr "Es sind keine Objekte mehr zu ändern. <1>Zurück zur Liste</1>"

        # Packages/Server/AdminPanel/Templates/conflict.mustache

        msgid "Somebody else saved this after you opened the form. Your changes aren't saved yet."
        msgstr "Jemand anderes hat das gespeichert, nachdem Sie das Formular geöffnet haben. Ihre Änderungen sind noch nicht gespeichert."

        msgid "Who changed it:"
        msgstr "Wer es geändert hat:"

        msgid "The audit log doesn't show yet who changed {{.}}: it's about a second behind. The history will show it."
        msgstr "Das Änderungsprotokoll weiß noch nicht, wer {{.}} geändert hat: Es hinkt etwa eine Sekunde hinterher. Danach steht es im Verlauf."

        msgid "History"
        msgstr "Verlauf"

        msgid "Choose a value for each field that you both changed. Where only one of you changed a field, that change is already selected."
        msgstr "Wählen Sie für jedes Feld, das beide geändert haben, einen Wert. Wo nur eine Seite ein Feld geändert hat, ist diese Änderung schon ausgewählt."

        msgid "Your choice for {{lost}} isn't kept: choose again afterwards."
        msgstr "Ihre Auswahl für {{lost}} ist verloren: Wählen Sie danach noch einmal."

        msgid "(changed by both of you)"
        msgstr "(von beiden geändert)"

        msgid "Before: {{was}}"
        msgstr "Vorher: {{was}}"

        msgid "Before:"
        msgstr "Vorher:"

        msgid "Current value: {{now}}"
        msgstr "Jetziger Wert: {{now}}"

        msgid "(changed)"
        msgstr "(geändert)"

        msgid "Your value: {{own}}"
        msgstr "Ihr Wert: {{own}}"

        # Packages/Server/AdminPanel/Templates/control.mustache

        msgid "(required)"
        msgstr "(erforderlich)"

        msgid "Search {{plural}}"
        msgstr "{{plural}} durchsuchen"

        msgid "Find"
        msgstr "Suchen"

        msgid "Determines the choices for {{fields}}."
        msgstr "Bestimmt, was zur Auswahl steht für {{fields}}."

        msgid "Update the choices<1> of {{fields}}</1>"
        msgstr "Auswahl aktualisieren<1>: {{fields}}</1>"

        # Packages/Server/AdminPanel/Templates/device_session.mustache

        msgid "What the gateway currently knows about this device."
        msgstr "Was das Gateway derzeit über dieses Gerät weiß."

        msgid "None."
        msgstr "Keine."

        # Packages/Server/AdminPanel/Templates/devices.mustache

        msgid "Devices that are connected now, as reported by their gateways."
        msgstr "Geräte, die jetzt verbunden sind, laut ihren Gateways."

        msgid "Connected"
        msgstr "Verbunden"

        msgid "Address or id"
        msgstr "Adresse oder ID"

        msgid "any"
        msgstr "beliebig"

        msgid "Gateways"
        msgstr "Gateways"

        msgid "Now"
        msgstr "Jetzt"

        msgid "Last heard from"
        msgstr "Letzte Meldung"

        msgid "Devices"
        msgstr "Geräte"

        msgid "Newest tick"
        msgstr "Neuester Tick"

        msgid "No connected devices match."
        msgstr "Keine verbundenen Geräte passen."

        # Packages/Server/AdminPanel/Templates/devices_known.mustache

        msgid "Every known device that has synced, the most recently seen first."
        msgstr "Alle bekannten Geräte, die synchronisiert haben, die zuletzt gesehenen zuerst."

        msgid "No device has synced yet."
        msgstr "Noch kein Gerät hat synchronisiert."

        msgid "First seen"
        msgstr "Zuerst gesehen"

        msgid "Last seen"
        msgstr "Zuletzt gesehen"

        msgid "Uploads"
        msgstr "Uploads"

        msgid "Why is an object missing on {{id}}?"
        msgstr "Warum fehlt ein Objekt auf {{id}}?"

        # Packages/Server/AdminPanel/Templates/devices_why.mustache

        msgid "Why a device has an object, or doesn't have it. The answer comes from the gateway that the device is connected to, and from the same conditions that decide what the gateway sends."
        msgstr "Warum ein Gerät ein Objekt hat oder nicht hat. Die Antwort kommt vom Gateway, mit dem das Gerät verbunden ist, und beruht auf denselben Bedingungen, die bestimmen, was das Gateway sendet."

        msgid "Its id."
        msgstr "Seine ID."

        msgid "An e-mail address or an id: asks about all devices of this user."
        msgstr "Eine E-Mail-Adresse oder ID: fragt nach allen Geräten dieses Benutzers."

        msgid "Or a single device: its id from the lists."
        msgstr "Oder ein einzelnes Gerät: seine ID aus den Listen."

        msgid "Property"
        msgstr "Eigenschaft"

        msgid "If the device has the object, but lacks this property."
        msgstr "Falls das Gerät das Objekt hat, ihm aber diese Eigenschaft fehlt."

        msgid "Ask the gateways"
        msgstr "Gateways fragen"

        msgid "<1>{{.}}</1> of {{user}}: {{place}} <2>{{verdict}}</2>"
        msgstr "<1>{{.}}</1> von {{user}}: {{place}} <2>{{verdict}}</2>"

        # Packages/Server/AdminPanel/Templates/document.mustache

        msgid "Full text"
        msgstr "Vollständiger Text"

        msgid "Changes"
        msgstr "Änderungen"

        msgid "Old"
        msgstr "Alt"

        msgid "New"
        msgstr "Neu"

        msgid "Compare with version {{.}}"
        msgstr "Mit Version {{.}} vergleichen"

        msgid "Text of the document"
        msgstr "Text des Dokuments"

        # Packages/Server/AdminPanel/Templates/documents.mustache

        msgid "The models and rules that this server uses, with all earlier versions."
        msgstr "Die Modelle und Regeln, die dieser Server verwendet, mit allen früheren Versionen."

        msgid "In use"
        msgstr "In Verwendung"

        msgid "Rules"
        msgstr "Regeln"

        msgid "Change<1> the model and rules of {{name}}</1>"
        msgstr "Ändern<1>: Modell und Regeln von {{name}}</1>"

        msgid "model"
        msgstr "Modell"

        msgid "To change models and rules here, set <1>{{.}}</1> and restart the server: see <2>docs/database-roles.md</2>."
        msgstr "Um Modelle und Regeln hier zu ändern, setzen Sie <1>{{.}}</1> und starten Sie den Server neu: siehe <2>docs/database-roles.md</2>."

        msgid "Version"
        msgstr "Version"

        msgid "Stored"
        msgstr "Gespeichert"

        msgid "current"
        msgstr "aktuell"

        msgid "Compare with {{.}}"
        msgstr "Mit {{.}} vergleichen"

        msgid "first version"
        msgstr "erste Version"

        msgid "Newer"
        msgstr "Neuere"

        # Packages/Server/AdminPanel/Templates/edit.mustache

        msgid "Not saved:"
        msgstr "Nicht gespeichert:"

        msgid "Nothing was saved:"
        msgstr "Nichts wurde gespeichert:"

        msgid "Edit together with:"
        msgstr "Zusammen bearbeiten mit:"

        msgid "Not in this form: {{.}}."
        msgstr "Nicht in diesem Formular: {{.}}."

        msgid "Saved together with the fields above: all of it, or nothing."
        msgstr "Wird zusammen mit den Feldern oben gespeichert: alles oder nichts."

        msgid "What you enter in the empty rows creates new {{pluralInSentence}}; rows that you leave empty are ignored."
        msgstr "Was Sie in die leeren Zeilen eingeben, erstellt neue {{pluralInSentence}}; leer gelassene Zeilen werden ignoriert."

        msgid "New ones can't be added here: they need {{.}}."
        msgstr "Neue lassen sich hier nicht hinzufügen: Sie brauchen {{.}}."

        msgid "Only the first {{maximum}} are shown."
        msgstr "Nur die ersten {{maximum}} werden angezeigt."

        msgid "List of all {{pluralInSentence}}"
        msgstr "Liste aller {{pluralInSentence}}"

        msgid "There is nothing to edit."
        msgstr "Es gibt nichts zu bearbeiten."

        # Packages/Server/AdminPanel/Templates/failure.mustache

        msgid "What you entered"
        msgstr "Ihre Eingaben"

        msgid "None of this was saved: copy what you need."
        msgstr "Nichts davon wurde gespeichert: Kopieren Sie, was Sie brauchen."

        msgid "Back to the overview"
        msgstr "Zurück zur Übersicht"

        msgid "Request {{requestID}}"
        msgstr "Anfrage {{requestID}}"

        # Packages/Server/AdminPanel/Templates/form_bytes.mustache

        msgid "Current: {{text}}"
        msgstr "Derzeit: {{text}}"

        msgid "Download"
        msgstr "Herunterladen"

        msgid "Choose the file again: it wasn't saved."
        msgstr "Wählen Sie die Datei noch einmal: Sie wurde nicht gespeichert."

        msgid "Up to {{megabytes}} MiB. A new file replaces the current one."
        msgstr "Bis zu {{megabytes}} MiB. Eine neue Datei ersetzt die jetzige."

        msgid "Remove the {{label}}"
        msgstr "{{label}} entfernen"

        # Packages/Server/AdminPanel/Templates/form_group.mustache

        msgid "Remove {{label}}"
        msgstr "{{label}} entfernen"

        msgid "Add {{label}}"
        msgstr "{{label}} hinzufügen"

        # Packages/Server/AdminPanel/Templates/form_list.mustache

        msgid "Up: {{title}}"
        msgstr "Nach oben: {{title}}"

        msgid "Up"
        msgstr "Nach oben"

        msgid "Down: {{title}}"
        msgstr "Nach unten: {{title}}"

        msgid "Down"
        msgstr "Nach unten"

        msgid "Remove: {{title}}"
        msgstr "Entfernen: {{title}}"

        msgid "Add to {{label}}"
        msgstr "Zu {{label}} hinzufügen"

        msgid "A form can have at most {{maximum}} of them."
        msgstr "Ein Formular kann höchstens {{maximum}} davon haben."

        msgid "Add<1> to {{label}}</1>"
        msgstr "Hinzufügen<1> zu {{label}}</1>"

        msgid "Add one<1> to {{label}}</1>"
        msgstr "Eintrag hinzufügen<1> zu {{label}}</1>"

        # Packages/Server/AdminPanel/Templates/help.mustache

        msgid "Keys"
        msgstr "Tastenkürzel"

        msgid "Everything works with Tab, Enter and the space bar, and without JavaScript. With JavaScript, these keys work while you aren't typing in a field:"
        msgstr "Alles funktioniert mit Tabulator-, Eingabe- und Leertaste und ohne JavaScript. Mit JavaScript funktionieren diese Tasten, solange Sie nicht in ein Feld tippen:"

        msgid "goes to the search field of a list"
        msgstr "springt zum Suchfeld einer Liste"

        msgid "<1>g</1> then <2>o</2>"
        msgstr "<1>g</1>, dann <2>o</2>"

        msgid "opens the overview"
        msgstr "öffnet die Übersicht"

        msgid "<1>g</1> then <2>h</2>"
        msgstr "<1>g</1>, dann <2>h</2>"

        msgid "opens this page"
        msgstr "öffnet diese Seite"

        msgid "go to the next or the previous row of a list; Enter opens it"
        msgstr "zur nächsten oder vorherigen Zeile einer Liste; die Eingabetaste öffnet sie"

        msgid "ticks or unticks the row"
        msgstr "wählt die Zeile aus oder ab"

        msgid "open the next or the previous page of a list"
        msgstr "zur nächsten oder vorherigen Seite einer Liste"

        msgid "opens the form of a record"
        msgstr "öffnet das Formular eines Objekts"

        msgid "Switch the keys off"
        msgstr "Tastenkürzel ausschalten"

        msgid "Addresses"
        msgstr "Adressen"

        msgid "What a list shows is in its address: search, filters, order, columns and page. Keep it as a bookmark, or send it to a colleague, who sees what their own roles let them see."
        msgstr "Was eine Liste zeigt, steht in ihrer Adresse: Suche, Filter, Sortierung, Spalten und Seite. Speichern Sie sie als Lesezeichen, oder schicken Sie sie anderen, die dann sehen, was ihre eigenen Rollen erlauben."

        msgid "Your session"
        msgstr "Ihre Sitzung"

        msgid "You are logged out after {{idleHours}} hours of inactivity, and at the latest {{hours}} hours after you logged in. Before anything that can't be undone, you are asked for your password again, unless you entered it in the last {{minutes}} minutes. Forms that are open in other windows must be reloaded after that."
        msgstr "Sie werden nach {{idleHours}} Stunden ohne Aktivität abgemeldet, spätestens {{hours}} Stunden nach der Anmeldung. Vor allem, was sich nicht rückgängig machen lässt, werden Sie noch einmal nach Ihrem Passwort gefragt, sofern Sie es nicht in den letzten {{minutes}} Minuten eingegeben haben. Formulare, die in anderen Fenstern offen sind, müssen danach neu geladen werden."

        # Packages/Server/AdminPanel/Templates/history.mustache

        msgid "<1>To the record</1>. Lists and secret values can't be put back. Putting something back is a change like any other: your own permissions apply, and it appears in this history."
        msgstr "<1>Zum Objekt</1>. Listen und geheime Werte lassen sich nicht zurücksetzen. Zurücksetzen ist eine Änderung wie jede andere: Es gelten Ihre eigenen Berechtigungen, und es erscheint in diesem Verlauf."

        msgid "<1>{{time}}</1> UTC: {{headline}}"
        msgstr "<1>{{time}}</1> UTC: {{headline}}"

        msgid "(list {{list}})"
        msgstr "(Liste {{list}})"

        msgid "Reason: {{.}}"
        msgstr "Grund: {{.}}"

        msgid "Before"
        msgstr "Vorher"

        msgid "After"
        msgstr "Nachher"

        msgid "Put back"
        msgstr "Zurücksetzen"

        msgid "Put back<1> {{label}} as it was before {{time}}</1>"
        msgstr "Zurücksetzen<1>: {{label}} auf den Stand vor {{time}}</1>"

        msgid "Undo this change<1> of {{time}}</1>"
        msgstr "Diese Änderung rückgängig machen<1>: {{time}}</1>"

        msgid "Put back this version<1> of {{time}}</1>"
        msgstr "Auf diese Version zurücksetzen<1>: {{time}}</1>"

        msgid "Create it again<1> as it was until {{time}}</1>"
        msgstr "Neu erstellen<1> mit dem Stand bis {{time}}</1>"

        msgid "The log has no changes to this object that you may see."
        msgstr "Das Protokoll enthält keine Änderungen an diesem Objekt, die Sie sehen dürfen."

        msgid "Pages of the history"
        msgstr "Seiten des Verlaufs"

        # Packages/Server/AdminPanel/Templates/import.mustache

        msgid "CSV cells are separated by"
        msgstr "Trennzeichen in CSV"

        msgid "File"
        msgstr "Datei"

        msgid "CSV with a header, a JSON array, or JSON lines; up to {{megabytes}} MiB. Save an Excel workbook as CSV UTF-8 first. Exported files can be imported as they are."
        msgstr "CSV mit Kopfzeile, ein JSON-Array oder JSON Lines; bis zu {{megabytes}} MiB. Speichern Sie eine Excel-Arbeitsmappe vorher als CSV UTF-8. Was ein Export geschrieben hat, lässt sich unverändert importieren."

        msgid "Upload the file"
        msgstr "Datei hochladen"

        msgid "Back to {{plural}}"
        msgstr "Zurück zu {{plural}}"

        msgid "Nothing is imported yet: the next page shows the columns, and what would happen."
        msgstr "Noch wird nichts importiert: Die nächste Seite zeigt die Spalten und was geschehen würde."

        # Packages/Server/AdminPanel/Templates/import_file.mustache

        msgid "{{file}}: {{rows}}. Nothing is imported yet."
        msgstr "{{file}}: {{rows}}. Noch ist nichts importiert."

        msgid "What the columns become"
        msgstr "Was aus den Spalten wird"

        msgid "Column"
        msgstr "Spalte"

        msgid "Becomes"
        msgstr "Wird zu"

        msgid "First values"
        msgstr "Erste Werte"

        msgid "nothing"
        msgstr "nichts"

        msgid "What to do"
        msgstr "Was getan werden soll"

        msgid "A row matches the object with the same"
        msgstr "Eine Zeile gehört zu dem Objekt mit gleichem Wert für"

        msgid "Keep the <1>'</1> before <2>=</2>, <3>+</3>, <4>-</4> and <5>@</5>: it belongs to the text"
        msgstr "Das <1>'</1> vor <2>=</2>, <3>+</3>, <4>-</4> und <5>@</5> behalten: Es gehört zum Text"

        msgid "Show what would happen"
        msgstr "Zeigen, was geschehen würde"

        msgid "Columns that aren't imported:"
        msgstr "Spalten, die nicht importiert werden:"

        msgid "Why"
        msgstr "Warum"

        msgid "These are the first ones."
        msgstr "Das sind die ersten."

        msgid "The first rows, as they would be stored"
        msgstr "Die ersten Zeilen, wie sie gespeichert würden"

        msgid "Values"
        msgstr "Werte"

        msgid "See the list of errors"
        msgstr "Siehe Liste der Fehler"

        msgid "All or nothing: if one row is refused, none is imported (up to 500 rows)"
        msgstr "Alles oder nichts: Wenn eine Zeile abgelehnt wird, wird keine importiert (bis zu 500 Zeilen)"

        msgid "The import runs in the background, even if you close this page. The job's page shows its progress, and has a button to undo it."
        msgstr "Der Import läuft von selbst weiter, auch wenn Sie diese Seite schließen. Die Seite des Auftrags zeigt, wie weit er ist, und kann ihn rückgängig machen."

        msgid "Start the import"
        msgstr "Import starten"

        msgid "Discard the file"
        msgstr "Datei verwerfen"

        # Packages/Server/AdminPanel/Templates/invitation.mustache

        msgid "{{invites}} The invitation is valid until {{until}}, for the address it was made for."
        msgstr "{{invites}} Die Einladung gilt bis {{until}} für die Adresse, für die sie ausgestellt wurde."

        msgid "Log in to accept"
        msgstr "Zum Annehmen anmelden"

        msgid "Accept with your account"
        msgstr "Mit Ihrem Konto annehmen"

        msgid "Create an account to accept"
        msgstr "Zum Annehmen ein Konto erstellen"

        msgid "Your name"
        msgstr "Ihr Name"

        msgid "A password for your account"
        msgstr "Ein Passwort für Ihr Konto"

        msgid "Create an account and accept"
        msgstr "Konto erstellen und annehmen"

        msgid "No account yet? Ask the person who invited you to create one: you can only do that yourself with a mailed invitation."
        msgstr "Sie haben noch kein Konto? Bitten Sie die Person, die Sie eingeladen hat, um eines: Die Einladung wurde nicht per E-Mail verschickt und kann deshalb keines erstellen."

        msgid "You entered the name {{.}}."
        msgstr "Sie haben den Namen {{.}} eingegeben."

        # Packages/Server/AdminPanel/Templates/invitation_accept.mustache

        msgid "You are logged in as {{email}}."
        msgstr "Sie sind als {{email}} angemeldet."

        msgid "The invitation is for another address: log out, and log in with the account that has it."
        msgstr "Die Einladung gilt für eine andere Adresse: Melden Sie sich ab und melden Sie sich mit dem Konto an, das sie hat."

        msgid "You can only accept an invitation that was made for this address."
        msgstr "Sie können nur eine Einladung annehmen, die für diese Adresse ausgestellt wurde."

        msgid "Accept the invitation"
        msgstr "Einladung annehmen"

        msgid "Not now"
        msgstr "Nicht jetzt"

        # Packages/Server/AdminPanel/Templates/invitation_joined.mustache

        msgid "Your account has the role {{role}}."
        msgstr "Ihr Konto hat die Rolle {{role}}."

        # Packages/Server/AdminPanel/Templates/job.mustache

        msgid "Progress"
        msgstr "Fortschritt"

        msgid "Undo…"
        msgstr "Rückgängig machen…"

        msgid "New values"
        msgstr "Neue Werte"

        msgid "Filters"
        msgstr "Filter"

        msgid "If it's interrupted"
        msgstr "Bei einer Unterbrechung"

        msgid "Results: {{.}}"
        msgstr "Ergebnisse: {{.}}"

        msgid "Results"
        msgstr "Ergebnisse"

        msgid "Table of results"
        msgstr "Tabelle der Ergebnisse"

        msgid "In the file"
        msgstr "In der Datei"

        msgid "Reason"
        msgstr "Grund"

        msgid "There are no results here."
        msgstr "Hier gibt es keine Ergebnisse."

        # Packages/Server/AdminPanel/Templates/job_undo.mustache

        msgid "{{touches}} Anything changed since then stays as it is, and the new job's page lists it."
        msgstr "{{touches}} Was seitdem jemand geändert hat, bleibt, wie es ist, und steht auf der Seite des neuen Auftrags."

        msgid "Undo this job"
        msgstr "Diesen Auftrag rückgängig machen"

        # Packages/Server/AdminPanel/Templates/jobs.mustache

        msgid "Your long-running work: changes of many objects, imports, and undoing them. Jobs run in the background, and are kept for 30 days."
        msgstr "Ihre länger laufenden Arbeiten: Änderungen vieler Objekte, Importe und deren Rücknahme. Aufträge laufen im Hintergrund und werden 30 Tage lang aufbewahrt."

        msgid "You have no jobs. Tick rows in a list, or choose all that match, to change many objects at once."
        msgstr "Sie haben keine Aufträge. Wählen Sie in einer Liste Zeilen aus, oder nehmen Sie alle passenden, um viele Objekte auf einmal zu ändern."

        msgid "Job"
        msgstr "Auftrag"

        msgid "Objects"
        msgstr "Objekte"

        # Packages/Server/AdminPanel/Templates/kept_delete.mustache

        msgid "<1>This can't be undone.</1> The database {{name}} is deleted with everything in it. The database in use and all backups stay."
        msgstr "<1>Das lässt sich nicht rückgängig machen.</1> Die Datenbank {{name}} wird mit allem gelöscht, was sie enthält. Die benutzte bleibt, ebenso die Sicherungen."

        msgid "Delete the database"
        msgstr "Datenbank löschen"

        # Packages/Server/AdminPanel/Templates/layout.mustache

        msgid "{{title}} – Tombolo"
        msgstr "{{title}} – Tombolo"

        msgid "Skip to the content"
        msgstr "Zum Inhalt springen"

        msgid "You are viewing the panel as <1>{{name}}</1>. You can't change anything, and what you view is logged."
        msgstr "Sie sehen das Panel als <1>{{name}}</1> an. Sie können nichts ändern, und was Sie ansehen, wird protokolliert."

        msgid "Stop viewing"
        msgstr "Ansehen beenden"

        msgid "Tombolo"
        msgstr "Tombolo"

        msgid "Logged in as"
        msgstr "Angemeldet als"

        msgid "Colours"
        msgstr "Farben"

        msgid "Language"
        msgstr "Sprache"

        msgid "Apply"
        msgstr "Übernehmen"

        msgid "Change password"
        msgstr "Passwort ändern"

        msgid "Log out"
        msgstr "Abmelden"

        msgid "Panel"
        msgstr "Panel"

        msgid "Menu"
        msgstr "Menü"

        msgid "Where you are"
        msgstr "Sie sind hier"

        # Packages/Server/AdminPanel/Templates/list.mustache

        msgid "New {{singular}}"
        msgstr "Neu: {{singular}}"

        msgid "Edit these rows"
        msgstr "Diese Zeilen bearbeiten"

        msgid "Import"
        msgstr "Importieren"

        msgid "Filter"
        msgstr "Filter"

        msgid "Test"
        msgstr "Bedingung"

        msgid "Value"
        msgstr "Wert"

        msgid "For a link, enter the title of the linked object. Separate several values with commas. Times are in UTC."
        msgstr "Bei einer Verknüpfung der Titel ihres Ziels. Mehrere Werte durch Kommas getrennt. Zeiten sind in UTC."

        msgid "Add the filter"
        msgstr "Filter hinzufügen"

        msgid "Counts"
        msgstr "Anzahlen"

        msgid "Counting takes too long here. Search or filter to narrow the list."
        msgstr "Das Zählen dauert hier zu lange. Suchen oder filtern Sie nach weniger."

        msgid "Hide counts"
        msgstr "Anzahlen ausblenden"

        msgid "Show counts"
        msgstr "Anzahlen anzeigen"

        msgid "Columns"
        msgstr "Spalten"

        msgid "Columns to show"
        msgstr "Anzuzeigende Spalten"

        msgid "Show these"
        msgstr "Diese anzeigen"

        msgid "Views"
        msgstr "Ansichten"

        msgid "Delete<1> the view {{name}}</1>"
        msgstr "Löschen<1>: Ansicht {{name}}</1>"

        msgid "Save this list as"
        msgstr "Diese Liste speichern als"

        msgid "Save the view"
        msgstr "Ansicht speichern"

        msgid "Export"
        msgstr "Exportieren"

        msgid "All rows of this list, on all of its pages, with its search, filters and order. All fields are included unless you have chosen columns."
        msgstr "Alle Zeilen dieser Liste, auf allen ihren Seiten, mit ihrer Suche, ihren Filtern und ihrer Sortierung. Alle Felder sind enthalten, sofern Sie keine Spalten gewählt haben."

        msgid "Format"
        msgstr "Format"

        msgid "Add the titles of linked objects"
        msgstr "Titel verknüpfter Objekte hinzufügen"

        msgid "Programs can read it through the <1>API</1>."
        msgstr "Programme lesen sie über die <1>API</1>."

        msgid "Rows"
        msgstr "Zeilen"

        msgid "Remove the filter: {{text}}"
        msgstr "Filter entfernen: {{text}}"

        msgid "Remove all"
        msgstr "Alle entfernen"

        msgid "{{plural}}: {{from}}–{{to}} of {{total}}"
        msgstr "{{plural}}: {{from}}–{{to}} von {{total}}"

        msgid "Tick all on this page"
        msgstr "Alle auf dieser Seite auswählen"

        msgid "Tick"
        msgstr "Auswählen"

        msgid "Tick {{title}}"
        msgstr "{{title}} auswählen"

        msgid "Change several"
        msgstr "Mehrere ändern"

        msgid "Apply to"
        msgstr "Anwenden auf"

        msgid "the ticked ones"
        msgstr "die ausgewählten"

        msgid "all {{count}} on this page"
        msgstr "alle {{count}} auf dieser Seite"

        msgid "First"
        msgstr "Erste"

        msgid "Page {{page}} of {{.}}"
        msgstr "Seite {{page}} von {{.}}"

        msgid "Last"
        msgstr "Letzte"

        msgid "No {{pluralInSentence}} match. <1>Show all</1>, or search for something else."
        msgstr "Keine passenden {{pluralInSentence}}. <1>Alle anzeigen</1> oder nach etwas anderem suchen."

        msgid "There are no {{pluralInSentence}} yet, or none that you may see."
        msgstr "Es gibt noch keine {{pluralInSentence}}, oder keine, die Sie sehen dürfen."

        # Packages/Server/AdminPanel/Templates/login_code.mustache

        msgid "You are logging in as {{email}}."
        msgstr "Sie melden sich als {{email}} an."

        msgid "Code from your authenticator app"
        msgstr "Code aus Ihrer Authenticator-App"

        msgid "Six digits. If you don't have your phone, use a recovery code."
        msgstr "Sechs Ziffern. Wenn Sie Ihr Telefon nicht haben, nehmen Sie einen Wiederherstellungscode."

        # Packages/Server/AdminPanel/Templates/model_change.mustache

        msgid "What has changed in the meantime"
        msgstr "Was inzwischen geändert wurde"

        msgid "Nothing here changes anything yet. The next page shows what would happen, and asks for your password."
        msgstr "Hier wird noch nichts geändert. Die nächste Seite zeigt, was geschehen würde, und verlangt Ihr Passwort."

        msgid "Usual changes"
        msgstr "Übliche Änderungen"

        msgid "Each button edits the text of the model below."
        msgstr "Jede Schaltfläche bearbeitet den Text des Modells weiter unten."

        msgid "Add a class"
        msgstr "Eine Klasse hinzufügen"

        msgid "As in Swift, such as Boat. The class gets its own primary key."
        msgstr "Wie in Swift, zum Beispiel Boat. Die Klasse bekommt einen eigenen Schlüssel."

        msgid "Deleted objects go to the trash"
        msgstr "Gelöschte Objekte kommen in den Papierkorb"

        msgid "It's embedded: its objects live inside others"
        msgstr "Sie ist eingebettet: Ihre Objekte liegen in anderen"

        msgid "Add the class"
        msgstr "Klasse hinzufügen"

        msgid "Add a property"
        msgstr "Eine Eigenschaft hinzufügen"

        msgid "Choose a class"
        msgstr "Klasse wählen"

        msgid "It may be nil. Links and embedded objects always may be, lists never."
        msgstr "Sie darf nil sein. Verknüpfungen und eingebettete Objekte dürfen das immer, Listen nie."

        msgid "With an index, for filters and sorting"
        msgstr "Mit einem Index, zum Filtern und Sortieren"

        msgid "Possible values"
        msgstr "Mögliche Werte"

        msgid "One per line, for an enumeration. Leave it empty to allow all values."
        msgstr "Einer pro Zeile, für eine Aufzählung. Lassen Sie das Feld leer, wenn alle möglich sind."

        msgid "Hint"
        msgstr "Hinweis"

        msgid "What people should know before they enter a value, such as its unit."
        msgstr "Was man wissen sollte, bevor man einen Wert eingibt, zum Beispiel die Einheit."

        msgid "Add the property"
        msgstr "Eigenschaft hinzufügen"

        msgid "Rename a property"
        msgstr "Eine Eigenschaft umbenennen"

        msgid "Choose a property"
        msgstr "Eigenschaft wählen"

        msgid "New name"
        msgstr "Neuer Name"

        msgid "The values stay. Older versions of the app keep using the old name."
        msgstr "Die Werte bleiben. Ältere Versionen der App arbeiten mit dem alten Namen weiter."

        msgid "Rename the property"
        msgstr "Eigenschaft umbenennen"

        msgid "Drop a class or a property"
        msgstr "Eine Klasse oder Eigenschaft entfernen"

        msgid "Class or property"
        msgstr "Klasse oder Eigenschaft"

        msgid "Choose what to drop"
        msgstr "Wählen, was entfernt werden soll"

        msgid "It is retired: the table or the column stays for older versions of the app."
        msgstr "Sie wird stillgelegt: Die Tabelle oder die Spalte bleibt für ältere Versionen der App erhalten."

        msgid "Drop it"
        msgstr "Entfernen"

        msgid "Text of the model"
        msgstr "Text des Modells"

        msgid "JSON, as described in <1>docs/model-documents.md</1>. What you leave out is retired."
        msgstr "JSON, wie in <1>docs/model-documents.md</1> beschrieben. Was Sie weglassen, wird stillgelegt."

        msgid "A file instead of this text"
        msgstr "Eine Datei anstelle dieses Textes"

        msgid "Text of the rules"
        msgstr "Text der Regeln"

        msgid "YAML or JSON, as described in <1>docs/rules.md</1>. They apply exactly as they stand here, including the boxes of the permission matrix. Nobody sees a new class until it has rules."
        msgstr "YAML oder JSON, wie in <1>docs/rules.md</1> beschrieben. Sie gelten so, wie sie hier stehen, samt den Kästchen der Rechtematrix. Eine neue Klasse ohne eigene Regeln sieht niemand."

        # Packages/Server/AdminPanel/Templates/model_plan.mustache

        msgid "Nothing has been changed yet."
        msgstr "Noch wurde nichts geändert."

        msgid "Consequences for others"
        msgstr "Was anderen fehlen könnte"

        msgid "No values are deleted. Your own SQL, views, functions and services stop working if they use an old name."
        msgstr "Es werden keine Werte gelöscht. Eigenes SQL und eigene Sichten, Funktionen und Dienste, die einen alten Namen verwenden, funktionieren nicht mehr."

        msgid "The database already has all of this: there is nothing to do."
        msgstr "Die Datenbank hat das alles schon: Es gibt nichts zu tun."

        msgid "Steps"
        msgstr "Schritte"

        msgid "All of it happens in one transaction: if anything fails, nothing is changed."
        msgstr "Alles geschieht in einer Transaktion: Wenn etwas scheitert, wird nichts geändert."

        msgid "Some steps run outside a transaction, so that others can keep writing. If anything fails after one of them, the finished steps stay in the database, but the new model doesn't take effect. Applying it again continues from there."
        msgstr "Einige Schritte laufen außerhalb einer Transaktion, damit andere weiter schreiben können. Scheitert nach einem davon etwas, bleibt das Fertige in der Datenbank, und das neue Modell gilt nicht. Wenden Sie dasselbe noch einmal an, geht es dort weiter."

        msgid "These tables are locked while the transaction runs, and others have to wait. The transaction itself waits up to {{lockSeconds}} seconds for each table, then gives up."
        msgstr "Diese Tabellen sind gesperrt, solange die Transaktion läuft, und andere warten. Sie selbst wartet auf jede {{lockSeconds}} Sekunden und gibt dann auf."

        msgid "{{name}} (outside a transaction)"
        msgstr "{{name}} (außerhalb einer Transaktion)"

        msgid "SQL of the step"
        msgstr "SQL des Schritts"

        msgid "Remarks"
        msgstr "Anmerkungen"

        msgid "{{title}}: lines"
        msgstr "{{title}}: Zeilen"

        msgid "Tick this first: nothing was done."
        msgstr "Setzen Sie zuerst dieses Häkchen: Es wurde nichts ausgeführt."

        msgid "I have read the consequences for others"
        msgstr "Ich habe gelesen, was anderen fehlen könnte"

        msgid "Back to the text"
        msgstr "Zurück zum Text"

        # Packages/Server/AdminPanel/Templates/model_run.mustache

        msgid "This server hasn't changed any model since it was started."
        msgstr "Dieser Server hat seit seinem Start kein Modell geändert."

        msgid "What was stored is in the <1>history of the documents</1>."
        msgstr "Was gespeichert wurde, steht im <1>Verlauf der Dokumente</1>."

        msgid "It continues even if you close this page."
        msgstr "Es läuft weiter, auch wenn Sie diese Seite schließen."

        msgid "The documents are unchanged, unless the history has a newer version. Finished steps that ran outside a transaction stay."
        msgstr "Die Dokumente sind, wie sie waren, sofern der Verlauf keine neuere Version hat. Von den Schritten, die der Plan außerhalb einer Transaktion hat, bleiben die fertigen bestehen."

        msgid "All servers use it within a second or two. Its version is in the <1>history of the documents</1>."
        msgstr "Alle Server verwenden es innerhalb von ein, zwei Sekunden. Die Version steht im <1>Verlauf der Dokumente</1>."

        msgid "What is left to do in Swift"
        msgstr "Was in Swift noch zu tun ist"

        msgid "The app's classes don't have this change yet. Installed apps continue as they are."
        msgstr "Die Klassen der App kennen diese Änderung noch nicht. Installierte Apps laufen unverändert weiter."

        msgid "Download <1>the model as it is now</1>, and change the classes to match. A renamed property declares its old name in <2>previousPropertyNames()</2>."
        msgstr "Laden Sie <1>das jetzige Modell</1> herunter, und passen Sie die Klassen daran an. Eine umbenannte Eigenschaft gibt ihren alten Namen in <2>previousPropertyNames()</2> an."

        msgid "Export the document from the classes, and compare it with the download."
        msgstr "Exportieren Sie das Dokument aus den Klassen, und vergleichen Sie es mit dem heruntergeladenen."

        msgid "Apply it with <1>migration-tool apply</1>. From then on, the classes are the source again."
        msgstr "Wenden Sie es mit <1>migration-tool apply</1> an. Von da an sind wieder die Klassen maßgeblich."

        msgid "Until then, <1>migration-tool apply</1> with an older document keeps the classes and properties that were added here, and says so. It refuses the old names of anything renamed here. Everything else becomes what the document says, and the tool lists what it reverts."
        msgstr "Bis dahin behält <1>migration-tool apply</1> bei einem älteren Dokument die Klassen und Eigenschaften, die hier hinzugefügt wurden, und weist darauf hin. Den alten Namen von hier Umbenanntem lehnt es ab. Alles andere gilt so, wie es im Dokument steht, und das Programm nennt, was es zurücknimmt."

        msgid "Download the rules as they are now"
        msgstr "Die jetzigen Regeln herunterladen"

        # Packages/Server/AdminPanel/Templates/new-password.mustache

        msgid "New password"
        msgstr "Neues Passwort"

        msgid "At least {{minimum}} characters. Don't use a common password, or one made from your name."
        msgstr "Mindestens {{minimum}} Zeichen. Verwenden Sie kein gängiges Passwort und keines, das aus Ihrem Namen gebildet ist."

        msgid "New password again"
        msgstr "Neues Passwort wiederholen"

        # Packages/Server/AdminPanel/Templates/overview.mustache

        msgid "Needs attention"
        msgstr "Braucht Aufmerksamkeit"

        msgid "There is nothing here that you may see. Ask an administrator for a role."
        msgstr "Hier gibt es nichts, was Sie sehen dürfen. Bitten Sie die Administration um eine Rolle."

        msgid "In the trash"
        msgstr "Im Papierkorb"

        # Packages/Server/AdminPanel/Templates/password.mustache

        msgid "What you are about to do can't be undone, or changes who may do what. It requires your password if you last entered it more than {{minutes}} minutes ago."
        msgstr "Was Sie vorhaben, lässt sich nicht rückgängig machen oder ändert, wer was darf. Dafür ist Ihr Passwort nötig, wenn Sie es zuletzt vor mehr als {{minutes}} Minuten eingegeben haben."

        msgid "Code from your authenticator app, or a recovery code"
        msgstr "Code aus Ihrer Authenticator-App oder ein Wiederherstellungscode"

        # Packages/Server/AdminPanel/Templates/password_change.mustache

        msgid "Changing your password ends all your other logins, on other computers and on devices that sync."
        msgstr "Wenn Sie Ihr Passwort ändern, enden alle Ihre anderen Anmeldungen, auf anderen Computern und auf Geräten, die synchronisieren."

        msgid "Current password"
        msgstr "Jetziges Passwort"

        msgid "Change the password"
        msgstr "Passwort ändern"

        # Packages/Server/AdminPanel/Templates/password_forgotten.mustache

        msgid "If {{.}} has an account here, a mail with a link is on its way. The link is good for {{minutes}} minutes."
        msgstr "Wenn {{.}} hier ein Konto hat, ist eine E-Mail mit einem Link unterwegs. Der Link gilt {{minutes}} Minuten."

        msgid "Enter the address that you log in with. We'll mail you a link to a page where you can set a new password."
        msgstr "Geben Sie die Adresse ein, mit der Sie sich anmelden. Sie erhalten per E-Mail einen Link zu einer Seite, auf der Sie ein neues Passwort festlegen können."

        msgid "Send the mail"
        msgstr "E-Mail senden"

        msgid "This server doesn't send mail. Its operator can set a new password for you with <1>migration-tool user password</1>."
        msgstr "Dieser Server versendet keine E-Mails. Wer ihn betreibt, kann mit <1>migration-tool user password</1> ein neues Passwort für Sie festlegen."

        # Packages/Server/AdminPanel/Templates/password_reset.mustache

        msgid "All logins were ended, on other computers and on devices that sync. <1>Log in</1> with the new password."
        msgstr "Alle Anmeldungen wurden beendet, auf anderen Computern und auf Geräten, die synchronisieren. <1>Melden Sie sich</1> mit dem neuen Passwort an."

        msgid "Ask for another mail"
        msgstr "Neue E-Mail anfordern"

        msgid "Set the password"
        msgstr "Passwort festlegen"

        # Packages/Server/AdminPanel/Templates/people.mustache

        msgid "Given by"
        msgstr "Vergeben durch"

        msgid "Nobody has a role here that you may see."
        msgstr "Niemand hat hier eine Rolle, die Sie sehen dürfen."

        msgid "Table of people and their roles"
        msgstr "Tabelle der Personen und ihrer Rollen"

        msgid "Person"
        msgstr "Person"

        msgid "Role"
        msgstr "Rolle"

        msgid "Remove…<1> ({{role}}, {{name}})</1>"
        msgstr "Entfernen…<1> ({{role}}, {{name}})</1>"

        msgid "Hand a role over"
        msgstr "Rolle übergeben"

        msgid "New {{roleTitle}}"
        msgstr "Neu: {{roleTitle}}"

        msgid "Hand over the role {{roleTitle}}"
        msgstr "Rolle {{roleTitle}} übergeben"

        msgid "The current holder becomes {{left}}."
        msgstr "Wer sie jetzt hat, bekommt die Rolle {{left}}."

        msgid "Invite somebody"
        msgstr "Jemanden einladen"

        msgid "Role to give"
        msgstr "Zu vergebende Rolle"

        msgid "Choose one"
        msgstr "Bitte wählen"

        msgid "Invite"
        msgstr "Einladen"

        msgid "Open invitations"
        msgstr "Offene Einladungen"

        msgid "Table of open invitations"
        msgstr "Tabelle der offenen Einladungen"

        msgid "Sent"
        msgstr "Gesendet"

        msgid "Expires"
        msgstr "Läuft ab"

        msgid "Send again<1> to {{email}}</1>"
        msgstr "Erneut senden<1> an {{email}}</1>"

        msgid "Revoke<1> the invitation of {{email}}</1>"
        msgstr "Widerrufen<1>: Einladung an {{email}}</1>"

        # Packages/Server/AdminPanel/Templates/people_invited.mustache

        msgid "This server doesn't send e-mail. Give this link to {{email}} yourself. It's shown only once, expires in 7 days, and works only for this address:"
        msgstr "Dieser Server versendet keine E-Mails. Geben Sie diesen Link selbst an {{email}} weiter. Er wird nur einmal angezeigt, läuft in 7 Tagen ab und funktioniert nur für diese Adresse:"

        msgid "They need an account with this address first, because a link that wasn't mailed can't create one."
        msgstr "Zuerst ist ein Konto mit dieser Adresse nötig, weil ein Link, der nicht per E-Mail verschickt wurde, keines erstellen kann."

        msgid "Back to People"
        msgstr "Zurück zu „Personen“"

        # Packages/Server/AdminPanel/Templates/permission_box.mustache

        msgid "The box opens these pages of the panel:"
        msgstr "Das Kästchen öffnet diese Seiten des Panels:"

        msgid "The change takes effect within a second, on every server and in every open sync session. It's stored as a new version of the rules, and can be reverted at any time."
        msgstr "Die Änderung wirkt innerhalb einer Sekunde, auf jedem Server und in jeder offenen Sync-Sitzung. Sie wird als neue Version der Regeln gespeichert und lässt sich jederzeit rückgängig machen."

        # Packages/Server/AdminPanel/Templates/permissions.mustache

        msgid "What each role may do, within one object such as an event or everywhere. The classes' own rules may permit more."
        msgstr "Was jede Rolle darf, innerhalb eines Objekts wie einer Veranstaltung oder überall. Was die eigenen Regeln der Klassen erlauben, kommt hinzu."

        msgid "Roles and services"
        msgstr "Rollen und Dienste"

        msgid "Service"
        msgstr "Dienst"

        msgid "by its rules"
        msgstr "nach seinen Regeln"

        msgid "<1>C</1> create, <2>R</2> read, <3>U</3> update, <4>D</4> delete; <5>–</5> not permitted."
        msgstr "<1>C</1> erstellen, <2>R</2> lesen, <3>U</3> ändern, <4>D</4> löschen; <5>–</5> nicht erlaubt."

        msgid "Choose a box to change it."
        msgstr "Wählen Sie ein Kästchen, um es zu ändern."

        msgid "You can view this, but not change it."
        msgstr "Sie können das ansehen, aber nicht ändern."

        msgid "Add a role…"
        msgstr "Rolle hinzufügen…"

        msgid "What users may do without a role"
        msgstr "Was Benutzer ohne Rolle dürfen"

        msgid "Permission"
        msgstr "Berechtigung"

        msgid "The first group that a user matches applies. What a permission allows is defined in the rules."
        msgstr "Es gilt die erste Gruppe, zu der ein Benutzer passt. Was eine Berechtigung erlaubt, legen die Regeln fest."

        # Packages/Server/AdminPanel/Templates/record.mustache

        msgid "Edit"
        msgstr "Bearbeiten"

        msgid "Duplicate"
        msgstr "Duplizieren"

        msgid "Which devices have it?"
        msgstr "Welche Geräte haben es?"

        msgid "{{text}} (you may not see it)"
        msgstr "{{text}} (für Sie nicht sichtbar)"

        msgid "and {{.}} more"
        msgstr "und {{.}} weitere"

        msgid "Show on openstreetmap.org"
        msgstr "Auf openstreetmap.org anzeigen"

        msgid "What links here"
        msgstr "Was hierauf verweist"

        msgid "Edit {{plural}} in one form"
        msgstr "{{plural}} in einem Formular bearbeiten"

        msgid "Edit {{plural}} with this {{parent}}"
        msgstr "{{plural}} zusammen bearbeiten mit: {{parent}}"

        # Packages/Server/AdminPanel/Templates/recovery_codes.mustache

        msgid "The second factor is on."
        msgstr "Der zweite Faktor ist eingeschaltet."

        msgid "Your earlier recovery codes no longer work."
        msgstr "Ihre früheren Wiederherstellungscodes gelten nicht mehr."

        msgid "If you don't have your phone, each of these logs you in once, instead of the app's code. Print them or write them down: <1>they aren't shown again.</1>"
        msgstr "Wenn Sie Ihr Telefon nicht haben, können Sie sich mit jedem davon einmal anmelden, anstelle des Codes der App. Drucken Sie sie aus, oder schreiben Sie sie auf: <1>Sie werden nicht noch einmal angezeigt.</1>"

        # Packages/Server/AdminPanel/Templates/removal.mustache

        msgid "{{title}} goes into the trash. {{restorable}}"
        msgstr "{{title}} kommt in den Papierkorb. {{restorable}}"

        msgid "These belong to it, and go into the trash too:"
        msgstr "Diese gehören dazu und kommen auch in den Papierkorb:"

        msgid "Nothing else goes into the trash."
        msgstr "Sonst kommt nichts in den Papierkorb."

        msgid "The app would keep it in the trash, so it can't be deleted permanently for now: {{.}}"
        msgstr "Die App behält es vorerst im Papierkorb, sodass es nicht endgültig gelöscht werden kann: {{.}}"

        msgid "{{title}} will be deleted permanently, because its class has no trash. This can't be undone."
        msgstr "{{title}} wird endgültig gelöscht, weil die Klasse keinen Papierkorb hat. Das lässt sich nicht rückgängig machen."

        msgid "These link to it. They lose the link, or are deleted too:"
        msgstr "Diese verweisen darauf. Sie verlieren die Verknüpfung oder werden auch gelöscht:"

        msgid "Move to trash"
        msgstr "In den Papierkorb legen"

        # Packages/Server/AdminPanel/Templates/requests.mustache

        msgid "Which servers and time"
        msgstr "Welche Server und welche Zeit"

        msgid "Requests to this server process since it started: the last {{kept}}, and the last slow, refused and failed ones. Requests are grouped by route; the values in addresses and query strings are not kept."
        msgstr "Anfragen an diesen Serverprozess seit seinem Start: die letzten {{kept}} und die letzten langsamen, abgelehnten und fehlgeschlagenen. Anfragen sind nach Route gruppiert; Werte in Adressen und Query-Strings werden nicht aufbewahrt."

        msgid "Requests to all admin servers, as long as they are kept. Requests are grouped by route; the values in addresses and query strings are not kept."
        msgstr "Anfragen an alle Admin-Server, solange sie aufbewahrt werden. Anfragen sind nach Route gruppiert; Werte in Adressen und Query-Strings werden nicht aufbewahrt."

        msgid "{{summary}} The busiest minute had {{top}}."
        msgstr "{{summary}} Die Minute mit den meisten hatte {{top}}."

        msgid "{{summary}} The busiest hour had {{top}}."
        msgstr "{{summary}} Die Stunde mit den meisten hatte {{top}}."

        msgid "{{summary}} The busiest day had {{top}}."
        msgstr "{{summary}} Der Tag mit den meisten hatte {{top}}."

        msgid "Which requests"
        msgstr "Welche Anfragen"

        msgid "Method"
        msgstr "Methode"

        msgid "Route begins with"
        msgstr "Route beginnt mit"

        msgid "IP address"
        msgstr "IP-Adresse"

        msgid "Id of the request"
        msgstr "ID der Anfrage"

        msgid "Server"
        msgstr "Server"

        msgid "Route"
        msgstr "Route"

        msgid "Status"
        msgstr "Status"

        msgid "Request"
        msgstr "Anfrage"

        msgid "A request that takes {{slowSeconds}} second or longer is slow. The server's log has each request by its id."
        msgstr "Eine Anfrage, die {{slowSeconds}} Sekunde oder länger dauert, ist langsam. Das Protokoll des Servers enthält jede Anfrage unter ihrer ID."

        msgid "Newest"
        msgstr "Neueste"

        # Packages/Server/AdminPanel/Templates/restore.mustache

        msgid "It can't be restored now. {{.}}"
        msgstr "Das lässt sich jetzt nicht wiederherstellen. {{.}}"

        msgid "Back"
        msgstr "Zurück"

        msgid "Everything returns to the state it was in when the backup was made."
        msgstr "Alles wird so, wie es bei der Sicherung war."

        msgid "Everything returns to the state it was in when this database was put aside."
        msgstr "Alles wird so, wie es war, als diese Datenbank beiseitegelegt wurde."

        msgid "That was <1>{{relative}}</1>."
        msgstr "Das war <1>{{relative}}</1>."

        msgid "The current database is put aside. You can bring it back here."
        msgstr "Die jetzt benutzte Datenbank wird beiseitegelegt. Sie können sie hier zurückholen."

        msgid "The server stays available until the new database is filled."
        msgstr "Bis die neue Datenbank gefüllt ist, läuft alles weiter."

        msgid "When the databases are swapped, requests in progress fail, and people may have to log in again. You may have to, too."
        msgstr "Wenn die Datenbanken die Plätze tauschen, scheitern laufende Anfragen, und vielleicht müssen sich alle neu anmelden, auch Sie."

        msgid "Accounts, passwords, roles, API keys and logins are reverted too: anyone who has lost access since then gets it back."
        msgstr "Auch Konten, Passwörter, Rollen, API-Schlüssel und Anmeldungen sind wie damals: Wer seitdem den Zugang verlor, hat ihn wieder."

        msgid "Devices that have later changes start over. They then upload what they hadn't uploaded yet."
        msgstr "Geräte, die spätere Änderungen kennen, beginnen von vorn. Was sie noch nicht hochgeladen haben, laden sie dann hoch."

        msgid "Jobs that were running at that time continue."
        msgstr "Aufträge, die damals liefen, laufen weiter."

        msgid "Restore the backup"
        msgstr "Sicherung wiederherstellen"

        msgid "Bring the database back"
        msgstr "Datenbank zurückholen"

        # Packages/Server/AdminPanel/Templates/role.mustache

        msgid "Who has it"
        msgstr "Wer sie hat"

        msgid "Rename it"
        msgstr "Umbenennen"

        msgid "Letters, digits, - and _. People who have the role keep it, and open invitations stay valid."
        msgstr "Buchstaben, Ziffern, - und _. Wer die Rolle hat, behält sie, und offene Einladungen bleiben gültig."

        msgid "Rename"
        msgstr "Umbenennen"

        msgid "Remove it"
        msgstr "Entfernen"

        msgid "Its permissions are removed too, and open invitations to it are revoked."
        msgstr "Ihre Berechtigungen werden mit entfernt, und offene Einladungen dafür werden widerrufen."

        msgid "Remove the role {{name}}"
        msgstr "Rolle {{name}} entfernen"

        # Packages/Server/AdminPanel/Templates/role_new.mustache

        msgid "Nobody has a new role until it's given to them. Its permissions can be changed at any time."
        msgstr "Eine neue Rolle hat niemand, bis sie vergeben wird. Ihre Berechtigungen lassen sich jederzeit ändern."

        msgid "Letters, digits, - and _; it begins with a letter."
        msgstr "Buchstaben, Ziffern, - und _; am Anfang steht ein Buchstabe."

        msgid "It applies"
        msgstr "Sie gilt"

        msgid "within one object, such as an event"
        msgstr "innerhalb eines Objekts, etwa einer Veranstaltung"

        msgid "Boxes"
        msgstr "Kästchen"

        msgid "C create, R read, U update, D delete. Anyone who may change objects may also read them."
        msgstr "C erstellen, R lesen, U ändern, D löschen. Wer Objekte ändern darf, darf sie auch lesen."

        msgid "Add the role"
        msgstr "Rolle hinzufügen"

        # Packages/Server/AdminPanel/Templates/routes.mustache

        msgid "What a caller with a single role gets from this server, worked out from the routes and the current rules. Own only: for some objects, such as those of their events, their own, or published ones."
        msgstr "Was ein Aufrufer mit einer einzigen Rolle von diesem Server bekommt, ermittelt aus den Routen und den geltenden Regeln. Nur eigene: für manche Objekte, etwa die der eigenen Veranstaltungen, die eigenen oder veröffentlichte."

        # Packages/Server/AdminPanel/Templates/rows.mustache

        msgid "{{saved}} Not saved:"
        msgstr "{{saved}} Nicht gespeichert:"

        msgid "Filtered by: {{filters}}."
        msgstr "Gefiltert nach: {{filters}}."

        msgid "Each row is saved separately, unless somebody has changed it in the meantime."
        msgstr "Jede Zeile wird einzeln gespeichert, sofern sie niemand inzwischen geändert hat."

        msgid "Only the first {{maximum}} rows of the page are shown."
        msgstr "Nur die ersten {{maximum}} Zeilen der Seite werden angezeigt."

        msgid "What you enter in the rows below them creates new objects; rows that you leave empty are ignored."
        msgstr "Was Sie in die Zeilen darunter eingeben, erstellt neue Objekte; leer gelassene Zeilen werden ignoriert."

        msgid "To add rows here, show these columns first: {{missing}}."
        msgstr "Um hier Zeilen hinzuzufügen, blenden Sie zuerst diese Spalten ein: {{missing}}."

        msgid "Save the rows"
        msgstr "Zeilen speichern"

        msgid "There is nothing to edit. <1>Back to the list</1>"
        msgstr "Es gibt nichts zu bearbeiten. <1>Zurück zur Liste</1>"

        # Packages/Server/AdminPanel/Templates/rows_table.mustache

        msgid "Current value: {{.}}"
        msgstr "Jetziger Wert: {{.}}"

        # Packages/Server/AdminPanel/Templates/schedule.mustache

        msgid "What the servers do automatically, with the last run of each job in any process."
        msgstr "Was die Server automatisch tun, mit dem letzten Lauf jedes Auftrags in irgendeinem Prozess."

        msgid "Last run"
        msgstr "Letzter Lauf"

        msgid "Next run"
        msgstr "Nächster Lauf"

        msgid "Result"
        msgstr "Ergebnis"

        msgid "Run now<1> {{title}}</1>"
        msgstr "Jetzt ausführen<1>: {{title}}</1>"

        # Packages/Server/AdminPanel/Templates/second_factor.mustache

        msgid "With a second factor, you also enter a code from an app on your phone when you log in or confirm your password. This applies to the panel and to this server's API. Devices that sync don't ask for a code."
        msgstr "Mit einem zweiten Faktor geben Sie beim Anmelden und beim Bestätigen Ihres Passworts auch einen Code aus einer App auf Ihrem Telefon ein. Das gilt für das Panel und die API dieses Servers. Geräte, die synchronisieren, fragen nicht nach einem Code."

        msgid "Your account requires a second factor. Set it up to continue."
        msgstr "Ihr Konto verlangt einen zweiten Faktor. Richten Sie ihn ein, um fortzufahren."

        msgid "<1>on</1> since {{exact}}"
        msgstr "<1>ein</1> seit {{exact}}"

        msgid "off"
        msgstr "aus"

        msgid "Create new ones."
        msgstr "Erstellen Sie neue."

        msgid "Create new recovery codes"
        msgstr "Neue Wiederherstellungscodes erstellen"

        msgid "Turn it off"
        msgstr "Ausschalten"

        # Packages/Server/AdminPanel/Templates/second_factor_set_up.mustache

        msgid "Scan this with an authenticator app, or type the secret into it."
        msgstr "Scannen Sie dies mit einer Authenticator-App, oder geben Sie das Geheimnis darin ein."

        msgid "QR code for the authenticator app"
        msgstr "QR-Code für die Authenticator-App"

        msgid "Secret"
        msgstr "Geheimnis"

        msgid "Enter the code that the app shows"
        msgstr "Geben Sie den Code ein, den die App zeigt"

        msgid "Confirm"
        msgstr "Bestätigen"

        # Packages/Server/AdminPanel/Templates/setting.mustache

        msgid "Only an address that begins with https:// can be entered here: people who use the panel can't make the server run programs or write files. Programs, folders and the secret for an address are set where the server is started. An address with a secret in its path belongs there too, because database backups contain what is entered here."
        msgstr "Hier lässt sich nur eine Adresse eingeben, die mit https:// beginnt: Wer das Panel benutzt, kann den Server keine Programme ausführen und keine Dateien schreiben lassen. Programme, Ordner und das Geheimnis, das eine Adresse verlangt, werden dort gesetzt, wo der Server gestartet wird. Auch eine Adresse mit einem Geheimnis im Pfad gehört dorthin, denn Sicherungen der Datenbank enthalten, was hier eingegeben wird."

        msgid "Set where the server is started, so it can't be changed here."
        msgstr "Dort gesetzt, wo der Server gestartet wird; hier nicht änderbar."

        msgid "Now: <1>{{hidden}}</1>"
        msgstr "Jetzt: <1>{{hidden}}</1>"

        msgid "Without a value: {{fallback}}"
        msgstr "Ohne Wert: {{fallback}}"

        msgid "Use the default again"
        msgstr "Wieder den Standard verwenden"

        # Packages/Server/AdminPanel/Templates/settings.mustache

        msgid "The test mail wasn't accepted. {{message}}"
        msgstr "Die Testmail wurde nicht angenommen. {{message}}"

        msgid "This server's configuration. Settings with a link can be changed here, and all admin servers of the database use the new value within a few seconds. Change the other variables where the server is started, such as in its unit file or its container, and restart it. <1>admin-server --help</1> lists the same variables."
        msgstr "Womit dieser Server läuft. Einstellungen mit einem Link lassen sich hier ändern, und alle Admin-Server der Datenbank übernehmen das in wenigen Sekunden. Die anderen Variablen ändern Sie dort, wo der Server gestartet wird, etwa in seiner Unit-Datei oder seinem Container, und starten ihn neu. <1>admin-server --help</1> listet dieselben Variablen auf."

        msgid "Listens on"
        msgstr "Lauscht auf"

        msgid "Database"
        msgstr "Datenbank"

        msgid "version {{modelVersion}}"
        msgstr "Version {{modelVersion}}"

        msgid "Variable"
        msgstr "Variable"

        msgid "What it does"
        msgstr "Was sie bewirkt"

        msgid "set"
        msgstr "gesetzt"

        msgid "not set ({{fallback}})"
        msgstr "nicht gesetzt ({{fallback}})"

        msgid "Set where the server is started."
        msgstr "Gesetzt, wo der Server gestartet wird."

        msgid "Change<1> {{name}}</1>"
        msgstr "Ändern<1>: {{name}}</1>"

        msgid "Test mail"
        msgstr "Testmail"

        msgid "Sends a mail to {{email}} and shows what the carrier answers."
        msgstr "Sendet eine E-Mail an {{email}} und zeigt, was der Versanddienst antwortet."

        msgid "Send a test mail to my address"
        msgstr "Testmail an meine Adresse senden"

        msgid "There is nothing to test until <1>{{mailVariable}}</1> is set."
        msgstr "Es gibt nichts zu testen, solange <1>{{mailVariable}}</1> nicht gesetzt ist."

        # Packages/Server/AdminPanel/Templates/sql.mustache

        msgid "Runs one read-only statement as the database user in <1>{{variable}}</1>, whose privileges decide what you see: the apps' rules don't apply here. It runs for {{seconds}} seconds at most, shows up to {{maximumRows}} rows, and any changes are rolled back. The server's log has every statement and who ran it."
        msgstr "Führt eine Anweisung, die nur liest, als der Datenbankbenutzer in <1>{{variable}}</1> aus, dessen Rechte bestimmen, was Sie sehen: Die Regeln der Apps gelten hier nicht. Sie läuft höchstens {{seconds}} Sekunden, zeigt bis zu {{maximumRows}} Zeilen, und Änderungen werden zurückgerollt. Das Protokoll des Servers enthält jede Anweisung und wer sie ausgeführt hat."

        msgid "Statement"
        msgstr "Anweisung"

        msgid "With JavaScript, Ctrl+Enter (⌘ and Enter on a Mac) runs it too."
        msgstr "Strg+Eingabe (⌘ und Eingabe auf einem Mac) führt sie auch aus, mit JavaScript."

        msgid "Run"
        msgstr "Ausführen"

        msgid "NULL"
        msgstr "NULL"

        msgid "… cut"
        msgstr "… gekürzt"

        # Packages/Server/AdminPanel/Templates/trash.mustache

        msgid "Deleted objects, newest first, each with what was deleted along with it. They can be restored until they are deleted permanently."
        msgstr "Gelöschte Objekte, neueste zuerst, jeweils mit dem, was mit ihnen gelöscht wurde. Sie lassen sich wiederherstellen, bis sie endgültig gelöscht werden."

        msgid "All classes"
        msgstr "Alle Klassen"

        msgid "The trash of {{.}} is empty."
        msgstr "Der Papierkorb ist leer: {{.}}."

        msgid "The trash is empty."
        msgstr "Der Papierkorb ist leer."

        msgid "Including"
        msgstr "Einschließlich"

        msgid "Moved to trash"
        msgstr "In den Papierkorb gelegt"

        msgid "never"
        msgstr "nie"

        msgid "kept: {{.}}"
        msgstr "behalten: {{.}}"

        msgid "Restore all of {{chosenTitle}}…"
        msgstr "Alle wiederherstellen: {{chosenTitle}}…"

        msgid "Empty the trash of {{.}}…"
        msgstr "Papierkorb leeren: {{.}}…"

        msgid "Empty the trash…"
        msgstr "Papierkorb leeren…"

        # Packages/Server/AdminPanel/Templates/trash_confirm.mustache

        msgid "<1>This can't be undone.</1> It permanently deletes:"
        msgstr "<1>Das lässt sich nicht rückgängig machen.</1> Endgültig gelöscht wird:"

        msgid "Not deleted"
        msgstr "Nicht gelöscht"

        # Packages/Server/AdminPanel/Templates/trash_emptying.mustache

        msgid "{{done}} of {{total}}"
        msgstr "{{done}} von {{total}}"

        msgid "Stop"
        msgstr "Anhalten"

        msgid "Back to the trash"
        msgstr "Zurück zum Papierkorb"

        # Packages/Server/AdminPanel/Templates/trash_group.mustache

        msgid "{{className}}, with {{.}}"
        msgstr "{{className}}, mit {{.}}"

        msgid "Open what it belongs to"
        msgstr "Öffnen, wozu es gehört"

        msgid "never automatically"
        msgstr "nie automatisch"

        msgid "Kept because"
        msgstr "Grund fürs Behalten"

        msgid "View the live one"
        msgstr "Aktives Objekt ansehen"

        msgid "New {{property}}"
        msgstr "Neuer Wert: {{property}}"

        msgid "Contents"
        msgstr "Inhalt"

        # Packages/Server/AdminPanel/Templates/trash_purge.mustache

        msgid "Every hour, one of the admin servers permanently deletes what has been in the trash for as long as its class says."
        msgstr "Stündlich löscht einer der Admin-Server endgültig, was so lange im Papierkorb lag, wie es seine Klasse vorsieht."

        msgid "See what it would delete now"
        msgstr "Zeigen, was jetzt gelöscht würde"

        msgid "Run it now"
        msgstr "Jetzt ausführen"

        msgid "What it would delete now"
        msgstr "Was jetzt gelöscht würde"

        msgid "Nothing is due."
        msgstr "Nichts ist fällig."

        msgid "Group"
        msgstr "Gruppe"

        msgid "Due"
        msgstr "Fällig"

        msgid "There are more: only the first are shown."
        msgstr "Es gibt mehr: Nur die ersten werden angezeigt."

        msgid "How long things stay"
        msgstr "Wie lange Objekte bleiben"

        msgid "Days"
        msgstr "Tage"

        msgid "Other times can be set in the table <1>tombolo.trash_retention</1>."
        msgstr "Andere Fristen lassen sich in der Tabelle <1>tombolo.trash_retention</1> festlegen."

        msgid "What it couldn't delete"
        msgstr "Was nicht gelöscht werden konnte"

        msgid "Nothing."
        msgstr "Nichts."

        msgid "Blocked by"
        msgstr "Blockiert durch"

        msgid "Tried"
        msgstr "Versuche"

        msgid "Runs"
        msgstr "Läufe"

        msgid "It hasn't run yet."
        msgstr "Noch kein Lauf."

        msgid "Ended"
        msgstr "Ende"

        msgid "Groups"
        msgstr "Gruppen"

        msgid "Kept"
        msgstr "Behalten"

        msgid "Problem"
        msgstr "Problem"

        # Packages/Server/AdminPanel/Templates/view_as.mustache

        msgid "View the panel as somebody with a role, or another user, sees it. While you do, you can't change anything, every page says so, and what you view is logged. You can't view as somebody who may see more than you."
        msgstr "Sehen Sie das Panel so an, wie es jemand mit einer bestimmten Rolle oder ein anderer Benutzer sieht. Währenddessen können Sie nichts ändern, jede Seite weist darauf hin, und was Sie ansehen, wird protokolliert. Als jemand, der mehr sehen darf als Sie, können Sie es nicht ansehen."

        msgid "Within"
        msgstr "Innerhalb von"

        msgid "What the role is for, such as an event: its title or its id. Empty for none."
        msgstr "Wofür die Rolle gilt, etwa eine Veranstaltung: Titel oder ID. Für nichts Bestimmtes leer lassen."

        msgid "Or a user"
        msgstr "Oder ein Benutzer"

        msgid "Their address or id. The page of an account has a button for it."
        msgstr "Adresse oder ID. Auf der Seite eines Kontos gibt es eine Schaltfläche dafür."

        # Packages/Server/AdminPanel/Templates/why.mustache

        msgid "What somebody may do with a class, by which role, and what would have to change for the rest. The answer comes from the rules in force."
        msgstr "Was jemand mit einer Klasse tun darf, durch welche Rolle, und was sich für den Rest ändern müsste. Die Antwort kommt aus den geltenden Regeln."

        msgid "An e-mail address or an id. Leave it empty to ask about the role alone."
        msgstr "Eine E-Mail-Adresse oder ID. Lassen Sie es leer, um nur nach der Rolle zu fragen."

        msgid "The id of one object. Leave it empty to ask about the class in general."
        msgstr "Die ID eines Objekts. Lassen Sie es leer, um allgemein nach der Klasse zu fragen."

        msgid "Explain"
        msgstr "Erklären"

        msgid "Verdict"
        msgstr "Erlaubt"

        msgid "Which objects"
        msgstr "Welche Objekte"

        msgid "What decides"
        msgstr "Was entscheidet"

        msgid "because of {{.}}"
        msgstr "wegen „{{.}}“"

        msgid "The rule<1> for {{operation}}</1>"
        msgstr "Die Regel<1> für „{{operation}}“</1>"

        msgid "It would need"
        msgstr "Nötig wäre"

        msgid "Properties that stay hidden: {{.}}."
        msgstr "Eigenschaften, die verborgen bleiben: {{.}}."

        msgid "Properties that can't be changed: {{.}}."
        msgstr "Eigenschaften, die sich nicht ändern lassen: {{.}}."

        msgid "Permissions without a role: {{.}}."
        msgstr "Berechtigungen ohne Rolle: {{.}}."

        msgid "Roles in the rules, in the order in which they are tried"
        msgstr "Rollen in den Regeln, in der Reihenfolge, in der sie geprüft werden"

        # Packages/Server/AdminPanel/Assets/panel.js

        msgctxt "script"
        msgid "Copy"
        msgstr "Kopieren"

        msgctxt "script"
        msgid "Copied"
        msgstr "Kopiert"

        msgctxt "script"
        msgid "Format {0}"
        msgstr "{0} formatieren"

        msgctxt "script"
        msgid "Bold"
        msgstr "Fett"

        msgctxt "script"
        msgid "Italic"
        msgstr "Kursiv"

        msgctxt "script"
        msgid "Heading"
        msgstr "Überschrift"

        msgctxt "script"
        msgid "Link"
        msgstr "Link"

        msgctxt "script"
        msgid "List"
        msgstr "Liste"

        msgctxt "script"
        msgid "Quote"
        msgstr "Zitat"

        msgctxt "script"
        msgid "Code"
        msgstr "Code"

        msgctxt "script"
        msgid "Preview of {0}"
        msgstr "Vorschau von {0}"

        msgctxt "script"
        msgid "The preview can't be shown at the moment."
        msgstr "Die Vorschau lässt sich zurzeit nicht anzeigen."

        msgctxt "script"
        msgid "The text is too long to be formatted."
        msgstr "Der Text ist zu lang zum Formatieren."

        msgctxt "script"
        msgid "The text is empty."
        msgstr "Der Text ist leer."

        msgctxt "script"
        msgid "Preview"
        msgstr "Vorschau"

        msgctxt "script"
        msgid "Map for {0}"
        msgstr "Karte für {0}"

        msgctxt "script"
        msgid "The map can't be shown at the moment."
        msgstr "Die Karte lässt sich zurzeit nicht anzeigen."

        msgctxt "script"
        msgid "Zoom in"
        msgstr "Vergrößern"

        msgctxt "script"
        msgid "Zoom out"
        msgstr "Verkleinern"

        msgctxt "script"
        msgid "North"
        msgstr "Norden"

        msgctxt "script"
        msgid "South"
        msgstr "Süden"

        msgctxt "script"
        msgid "West"
        msgstr "Westen"

        msgctxt "script"
        msgid "East"
        msgstr "Osten"

        msgctxt "script"
        msgid "The data on this page has changed."
        msgstr "Die Daten auf dieser Seite haben sich geändert."

        msgctxt "script"
        msgid "Reload"
        msgstr "Neu laden"

        msgctxt "script"
        msgid "Your session has ended."
        msgstr "Ihre Sitzung ist beendet."

        msgctxt "script"
        msgid "Log in again"
        msgstr "Wieder anmelden"

        msgctxt "script"
        msgid "You entered your password or a code in another window."
        msgstr "Sie haben Ihr Passwort oder einen Code in einem anderen Fenster eingegeben."

        msgctxt "script"
        msgid "{0} ticked"
        msgstr "{0} ausgewählt"

        msgctxt "script"
        msgid "You have an unsaved draft of this form from {0}."
        msgstr "Sie haben einen nicht gespeicherten Entwurf dieses Formulars vom {0}."

        msgctxt "script"
        msgid "Restore the draft"
        msgstr "Entwurf wiederherstellen"

        msgctxt "script"
        msgid "Discard"
        msgstr "Verwerfen"

        msgctxt "script"
        msgid "Switch the keys on"
        msgstr "Tastenkürzel einschalten"

        msgctxt "script"
        msgid "Switch the keys off"
        msgstr "Tastenkürzel ausschalten"

        # Packages/Server/AdminService/Settings/AdminServer+Variables.swift

        msgid "Network"
        msgstr "Netzwerk"

        msgid "Mail"
        msgstr "E-Mail"

        msgid "Maps"
        msgstr "Karten"

        msgid "Images"
        msgstr "Bilder"

        msgid "Languages"
        msgstr "Sprachen"

        msgid "Monitoring"
        msgstr "Überwachung"

        msgid "postgresql://USER:PASSWORD@HOST:PORT/DATABASE. USER has the rights of the role tombolo_admin: see docs/database-roles.md"
        msgstr "postgresql://USER:PASSWORD@HOST:PORT/DATABASE. USER hat die Rechte der Rolle tombolo_admin, siehe docs/database-roles.md"

        msgid "a separate database user that may only SELECT, for the panel's SQL page: see docs/database-roles.md"
        msgstr "ein eigener Datenbankbenutzer für die SQL-Seite, der nur SELECT darf, siehe docs/database-roles.md"

        msgid "no SQL page"
        msgstr "keine SQL-Seite"

        msgid "a separate database user that acts as the owner of the tables, for changing models and rules in the panel: see docs/database-roles.md"
        msgstr "ein eigener Datenbankbenutzer, der als Eigentümer der Tabellen handelt, um Modelle und Regeln im Panel zu ändern, siehe docs/database-roles.md"

        msgid "they are changed with migration-tool"
        msgstr "sie werden mit migration-tool geändert"

        msgid "the address to listen on"
        msgstr "die Adresse, an der der Server lauscht"

        msgid "the port to listen on, 0 for a free one"
        msgstr "der Port, an dem der Server lauscht; 0 für einen freien"

        msgid "the address of this server, such as https://admin.example.org: links in mails begin with it. With it and TOMBOLO_MAIL, users can reset forgotten passwords"
        msgstr "wo dieser Server zu erreichen ist, etwa https://admin.example.org: Links in E-Mails beginnen damit. Zusammen mit TOMBOLO_MAIL lassen sich vergessene Passwörter ersetzen"

        msgid "proxies in front of this server, such as 10.0.0.0/8, 2001:db8::7. X-Forwarded-For and Forwarded are trusted only from these; they must set one of the two, or speak the PROXY protocol"
        msgstr "Proxys vor diesem Server, etwa 10.0.0.0/8, 2001:db8::7. Nur ihnen wird X-Forwarded-For oder Forwarded geglaubt; sie müssen eines von beiden setzen oder das PROXY-Protokoll sprechen"

        msgid "on: every connection from a trusted proxy begins with a PROXY protocol header, before TLS, and no other connection does"
        msgstr "on: Jede Verbindung eines vertrauenswürdigen Proxys beginnt, noch vor TLS, mit einem Header des PROXY-Protokolls, und keine andere"

        msgid "how many connections one address may have at a time"
        msgstr "gleichzeitige Verbindungen einer Adresse"

        msgid "a PEM file for HTTPS: the certificate with its chain. It may be replaced while the server runs; SIGHUP reloads it at once"
        msgstr "eine PEM-Datei für HTTPS: das Zertifikat mit seiner Kette. Sie darf im laufenden Betrieb ersetzt werden; SIGHUP liest sie sofort"

        msgid "none: HTTP"
        msgstr "keines: HTTP"

        msgid "a PEM file with the certificate's key, replaced in the same way"
        msgstr "eine PEM-Datei mit dem Schlüssel des Zertifikats, ebenso zu ersetzen"

        msgid "the key for access tokens, the same on all servers, at least 32 bytes. Generate one with: openssl rand -hex 32"
        msgstr "der Schlüssel der Zugriffstoken, auf allen Servern derselbe, mindestens 32 Byte. Erzeugen mit: openssl rand -hex 32"

        msgid "who needs a second factor: optional, users who have set one up; everywhere, also users with a role that applies everywhere, who must set one up; everybody, all users"
        msgstr "von wem ein zweiter Faktor verlangt wird: optional, von allen, die einen eingerichtet haben; everywhere, auch von allen mit einer überall gültigen Rolle, die einen einrichten müssen; everybody, von allen"

        msgid "a sorted file of SHA-1 hashes of passwords to refuse"
        msgstr "eine sortierte Datei mit SHA-1-Hashes abzulehnender Passwörter"

        msgid "only very common passwords are refused"
        msgstr "nur sehr gängige Passwörter werden abgelehnt"

        msgid "how to send mail: folder:/path, https://… or command:/usr/sbin/sendmail -t -i"
        msgstr "wer E-Mails versendet: folder:/path, https://… oder command:/usr/sbin/sendmail -t -i"

        msgid "none: the person who invites somebody gets the link to pass on"
        msgstr "niemand: Wer einlädt, bekommt den Link zum Weitergeben"

        msgid "sent as a bearer token with each mail to an https:// address"
        msgstr "wird mit jeder E-Mail an eine https://-Adresse als Bearer-Token gesendet"

        msgid "where the links in invitations lead; the token is added as token="
        msgstr "wohin die Links von Einladungen führen; das Token wird als token= angehängt"

        msgid "TOMBOLO_ADMIN_URL's panel"
        msgstr "das Panel unter TOMBOLO_ADMIN_URL"

        msgid "where the panel gets its map tiles, such as https://tile.openstreetmap.org/{z}/{x}/{y}.png. That server learns who looks at which place"
        msgstr "woher die Karten kommen, etwa https://tile.openstreetmap.org/{z}/{x}/{y}.png; dieser Server erfährt, wer welchen Ort ansieht"

        msgid "places are shown as text and a link"
        msgstr "Orte stehen in Worten da, mit einem Link"

        msgid "the credit below a map"
        msgstr "was unter einer Karte steht"

        msgid "© OpenStreetMap contributors"
        msgstr "© OpenStreetMap-Mitwirkende"

        msgid "the absolute path of libvips's vipsthumbnail, which makes image thumbnails in a separate process; off for none"
        msgstr "der absolute Pfad von vipsthumbnail aus libvips, das in einem eigenen Prozess Vorschaubilder macht; off für keine"

        msgid "the one on the PATH, if there is one"
        msgstr "das auf dem PATH, falls es eines gibt"

        msgid "a folder with files such as de.po: more languages for the panel and mails, and names of classes and properties. See docs/translations.md"
        msgstr "ein Ordner mit Dateien wie de.po: weitere Sprachen des Panels und der E-Mails und Namen von Klassen und Eigenschaften, siehe docs/translations.md"

        msgid "the languages that come with the panel"
        msgstr "die Sprachen, die das Panel mitbringt"

        msgid "a folder that the server's user owns, mode 0700, for backups in the panel. Needs pg_dump on the PATH: see docs/backups.md"
        msgstr "ein Ordner des Benutzers, unter dem der Server läuft, mit Modus 0700, für Sicherungen im Panel. Braucht pg_dump im PATH, siehe docs/backups.md"

        msgid "none are made"
        msgstr "es werden keine gemacht"

        msgid "postgresql://… with a user who may read the whole database"
        msgstr "postgresql://… eines Benutzers, der die ganze Datenbank lesen darf"

        msgid "hours between automatic backups, 0 for none"
        msgstr "Stunden zwischen automatischen Sicherungen, 0 für keine"

        msgid "how many automatic backups to keep"
        msgstr "wie viele automatische Sicherungen erhalten bleiben"

        msgid "postgresql://…/postgres with a user who may create and rename databases, to restore backups in the panel. Needs pg_restore on the PATH: see docs/backups.md"
        msgstr "postgresql://…/postgres mit einem Benutzer, der Datenbanken anlegen und umbenennen darf, um Sicherungen hier wiederherzustellen. Braucht pg_restore im PATH: siehe docs/backups.md"

        msgid "they are restored on the command line"
        msgstr "sie werden auf der Kommandozeile wiederhergestellt"

        msgid "trace, debug, info, notice, warning, error or critical"
        msgstr "trace, debug, info, notice, warning, error oder critical"

        msgid "info"
        msgstr "info"

        msgid "how many days to keep requests in the database for the panel, the same on all admin servers; 0 keeps only the latest, in memory"
        msgstr "wie viele Tage Anfragen für das Panel in der Datenbank bleiben, auf allen Admin-Servern gleich; 0 für die letzten nur im Speicher"

        msgid "serve GET /metrics for Prometheus on this port, without a token; 0 for a free one"
        msgstr "GET /metrics für Prometheus an diesem Port anbieten, ohne Token; 0 nimmt einen freien"

        msgid "no metrics"
        msgstr "keine Metriken"

        msgid "the address to serve metrics on; only the operator's network may reach it"
        msgstr "die Adresse dafür: Nur das Netz des Betreibers darf sie erreichen"

        """#
}
