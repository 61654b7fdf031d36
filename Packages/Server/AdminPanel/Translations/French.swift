extension BuiltInTranslations {
    static let french = #"""
        msgid ""
        msgstr ""
        "Language: fr\n"
        "X-Language-Name: Français\n"
        "Plural-Forms: nplurals=2; plural=(n > 1);\n"
        "Content-Type: text/plain; charset=UTF-8\n"

        # Packages/Server/AdminPanel/API/APIClassContent.swift

        msgid "writable"
        msgstr "modifiable"

        msgid "read only"
        msgstr "lecture seule"

        msgid "one of: {0}"
        msgstr "l’une des valeurs : {0}"

        msgid "yes"
        msgstr "oui"

        msgid "no"
        msgstr "non"

        msgid "Read"
        msgstr "Lire"

        msgid "The version of a resource is in the response's ETag header and in meta.version."
        msgstr "La version d’une ressource se trouve dans l’en-tête ETag de la réponse et dans meta.version."

        msgid "Filter and sort"
        msgstr "Filtrer et trier"

        msgid "Up to {0} filters, all of which must match. 'in' takes up to {1} values, separated by commas. Sort by up to {2} fields; a minus sorts in descending order."
        msgstr "Jusqu’à {0} filtres, qui doivent tous être vérifiés. Un « in » accepte jusqu’à {1} valeurs séparées par des virgules. Jusqu’à {2} champs de tri ; un signe moins trie par ordre décroissant."

        msgid "Choose what is returned"
        msgstr "Choisir ce qui est envoyé"

        msgid "Up to {0} relationships to include, each up to {1} names deep, separated by dots, and up to {2} included resources."
        msgstr "Jusqu’à {0} relations à inclure, chacune sur {1} niveaux au plus, séparés par des points, et jusqu’à {2} ressources incluses."

        msgid "Pages"
        msgstr "Pages"

        msgid "A page has {0} resources; you can ask for up to {1}. Take the cursor from links.next of the previous page: cursors have no limit. A page number can skip up to {2} resources."
        msgstr "Une page contient {0} ressources, sauf si vous en demandez plus, jusqu’à {1}. Prenez un curseur dans links.next de la page précédente : les curseurs n’ont pas de limite. Une page demandée par son numéro peut être précédée d’au plus {2} ressources."

        msgid "Create"
        msgstr "Créer"

        msgid "Another object with the same unique values is refused with 409."
        msgstr "Un autre objet ayant les mêmes valeurs uniques est refusé avec 409."

        msgid "Change"
        msgstr "Modification"

        msgid "The example repeats a value that the object already has, so it changes nothing. Fields that you leave out keep their values. With If-Match, the change is refused with 412 if the object's version differs."
        msgstr "L’exemple répète une valeur que l’objet a déjà, il ne change donc rien. Les champs omis restent inchangés. Avec If-Match, la modification est refusée avec 412 si l’objet a une autre version."

        msgid "Change links"
        msgstr "Modifier des liens"

        msgid "PATCH replaces all links of a relationship. For a list, POST appends links and DELETE removes them."
        msgstr "PATCH remplace tous les liens d’une relation. Pour une liste, POST en ajoute à la fin et DELETE en retire."

        msgid "Remove"
        msgstr "Supprimer"

        msgid "The object moves to the trash with all that belongs to it. The reason is optional."
        msgstr "L’objet va dans la corbeille, avec ce qui lui appartient. Le motif peut être omis."

        msgid "This can't be undone. DELETE accepts If-Match too."
        msgstr "Cette action est irréversible. DELETE accepte aussi If-Match."

        msgid "Replace {0} with the id of an object."
        msgstr "Remplacez {0} par l’identifiant d’un objet."

        msgid "required"
        msgstr "obligatoire"

        msgid "optional"
        msgstr "facultatif"

        msgid "required in its object"
        msgstr "obligatoire dans son objet"

        # Packages/Server/AdminPanel/API/APIClassPage.swift

        msgid "API: {0}"
        msgstr "API : {0}"

        # Packages/Server/AdminPanel/API/APIPages.swift

        msgid "API"
        msgstr "API"

        msgid "panel"
        msgstr "panneau"

        msgctxt "may …"
        msgid "read"
        msgstr "lire"

        msgctxt "operation"
        msgid "read"
        msgstr "lire"

        msgctxt "operation"
        msgid "create"
        msgstr "créer"

        msgctxt "operation"
        msgid "update"
        msgstr "modifier"

        msgctxt "operation"
        msgid "trash"
        msgstr "mettre à la corbeille"

        msgctxt "operation"
        msgid "delete"
        msgstr "supprimer"

        # Packages/Server/AdminPanel/Accounts/AccountConfirmContent.swift

        msgid "Enable {0}?"
        msgstr "Activer {0} ?"

        msgid "Disable {0}?"
        msgstr "Désactiver {0} ?"

        msgid "They may log in again."
        msgstr "Cette personne pourra de nouveau se connecter."

        msgid "Logins that were ended stay ended."
        msgstr "Les sessions fermées restent fermées."

        msgid "They are logged out on every device within a second, and can't log in."
        msgstr "Cette personne est déconnectée de tous ses appareils en une seconde et ne peut plus se connecter."

        msgid "What they have created stays, and they keep their roles."
        msgstr "Ce qu’elle a créé est conservé, et elle garde ses rôles."

        msgid "You can undo this: enable the account again."
        msgstr "Vous pourrez revenir en arrière : il suffira de réactiver le compte."

        msgid "Enable the account"
        msgstr "Activer le compte"

        msgid "Disable the account"
        msgstr "Désactiver le compte"

        # Packages/Server/AdminPanel/Accounts/AccountContent.swift

        msgid "Password"
        msgstr "Mot de passe"

        msgid "no e-mail address"
        msgstr "pas d’adresse e-mail"

        msgid "verified, {0}"
        msgstr "vérifiée le {0}"

        msgid "not verified"
        msgstr "non vérifiée"

        msgid "Mark as verified"
        msgstr "Marquer comme vérifiée"

        msgid "Mark as not verified"
        msgstr "Marquer comme non vérifiée"

        msgid "since {0}"
        msgstr "depuis le {0}"

        msgctxt "second factor"
        msgid "none"
        msgstr "aucun"

        msgid "{0} everywhere"
        msgstr "{0}, partout"

        msgid "{0} in {1}"
        msgstr "{0} dans {1}"

        msgid "unnamed device"
        msgstr "appareil sans nom"

        msgid "Disable…"
        msgstr "Désactiver…"

        msgid "Enable…"
        msgstr "Activer…"

        # Packages/Server/AdminPanel/Accounts/AccountPages.swift

        msgid "Accounts"
        msgstr "Comptes"

        msgid "All other logins were ended."
        msgstr "Toutes les autres sessions ont été fermées."

        msgid "The login was ended."
        msgstr "La session a été fermée."

        msgid "The account"
        msgstr "Le compte"

        msgid "{0} may log in again."
        msgstr "{0} peut de nouveau se connecter."

        msgid "{0} is disabled, and was logged out everywhere."
        msgstr "{0} : compte désactivé et déconnecté partout."

        msgid "This login has already ended."
        msgstr "Cette session est déjà fermée."

        msgid "There is no such account."
        msgstr "Ce compte n’existe pas."

        msgid "'state' must be enabled or disabled."
        msgstr "« state » ne vaut ni enabled ni disabled."

        msgid "'search' is longer than any e-mail address."
        msgstr "« search » est plus long que n’importe quelle adresse."

        msgid "You can't disable your own account."
        msgstr "Vous ne pouvez pas désactiver votre propre compte."

        msgid "Another administrator can."
        msgstr "Un autre administrateur le peut."

        msgid "The {0} of this account is in the trash, so the account is disabled."
        msgstr "L’objet ({0}) de ce compte est dans la corbeille, le compte est donc désactivé."

        msgid "Restore the {0} from the trash."
        msgstr "Restaurez l’objet ({0}) depuis la corbeille."

        # Packages/Server/AdminPanel/Accounts/AccountsContent.swift

        msgid "All"
        msgstr "Tous"

        msgid "enabled"
        msgstr "activé"

        msgid "disabled"
        msgstr "désactivé"

        # Packages/Server/AdminPanel/Accounts/NewAccountPages.swift

        msgid "Add an account"
        msgstr "Ajouter un compte"

        msgid "The account was added. A mail with a link to choose a password is on its way to {0}. The link is good for {1} days."
        msgstr "Le compte a été ajouté. Un e-mail avec un lien pour choisir un mot de passe est en route vers {0}. Le lien est valable {1} jours."

        msgid "The account was added, but no mail could be sent. Press 'Mail a link to set a password' in a moment."
        msgstr "Le compte a été ajouté, mais aucun e-mail n’a pu être envoyé. Cliquez dans un instant sur « Envoyer un lien pour définir un mot de passe »."

        msgid "The account was added. It has no password yet: the server's operator can set one with 'migration-tool user password ADDRESS'."
        msgstr "Le compte a été ajouté. Il n’a pas de mot de passe : l’exploitant du serveur en définit un avec « migration-tool user password ADDRESS »."

        msgid "This address already has an account."
        msgstr "Cette adresse a déjà un compte."

        # Packages/Server/AdminPanel/Accounts/PasswordLinkPages.swift

        msgid "A mail with a link to set a password is on its way to {0}. The link is good for {1} minutes. Until it's used, the password and all logins stay as they are."
        msgstr "Un e-mail avec un lien pour définir un mot de passe est en route vers {0}. Le lien est valable {1} minutes. Tant qu’il n’est pas utilisé, le mot de passe et toutes les connexions restent tels quels."

        msgid "A disabled account can't get a password link."
        msgstr "Un compte désactivé ne reçoit pas de lien pour définir un mot de passe."

        msgid "Enable the account first."
        msgstr "Activez d’abord le compte."

        msgid "This account has no e-mail address to mail a link to."
        msgstr "Ce compte n’a pas d’adresse e-mail à laquelle un lien pourrait être envoyé."

        msgid "Its owner logs in without a password."
        msgstr "Son titulaire se connecte sans mot de passe."

        msgid "This server can't mail links to set a password: that requires TOMBOLO_MAIL and TOMBOLO_ADMIN_URL."
        msgstr "Ce serveur ne peut pas envoyer de liens pour définir un mot de passe : il faut pour cela TOMBOLO_MAIL et TOMBOLO_ADMIN_URL."

        msgid "Its operator can set the password with 'migration-tool user password ADDRESS'."
        msgstr "Son exploitant peut définir le mot de passe avec « migration-tool user password ADDRESS »."

        # Packages/Server/AdminPanel/Audit/AuditPages.swift

        msgid "Audit log"
        msgstr "Journal d’audit"

        msgid "History of {0}"
        msgstr "Historique : {0}"

        msgid "The {0} was created again."
        msgstr "L’objet ({0}) a été recréé."

        msgid "Nothing was changed: it's already like this."
        msgstr "Rien n’a été modifié : c’est déjà le cas."

        msgid "Put back: {0}. The history shows it within a second."
        msgstr "Valeurs rétablies : {0}. L’historique l’affichera d’ici une seconde."

        msgid "Undo"
        msgstr "Défaire"

        # Packages/Server/AdminPanel/Audit/AuditText.swift

        msgctxt "operation"
        msgid "restore"
        msgstr "restaurer"

        msgctxt "operation"
        msgid "baseline"
        msgstr "état initial"

        msgctxt "operation"
        msgid "gap"
        msgstr "lacune"

        msgctxt "source"
        msgid "http"
        msgstr "HTTP"

        msgctxt "source"
        msgid "sync"
        msgstr "synchronisation"

        msgctxt "source"
        msgid "sql"
        msgstr "SQL"

        msgctxt "source"
        msgid "system"
        msgstr "système"

        msgid "Created"
        msgstr "Création"

        msgid "Changed"
        msgstr "Modification"

        msgid "Deleted permanently"
        msgstr "Suppression définitive"

        msgid "Moved to the trash"
        msgstr "Mise à la corbeille"

        msgid "Restored from the trash"
        msgstr "Restauration depuis la corbeille"

        msgid "Existed when the log began"
        msgstr "Existait déjà au début du journal"

        msgid "The log begins here, or has no record of earlier changes"
        msgstr "Le journal commence ici, ou il manque ce qui s’est passé avant"

        msgid "Created {0}"
        msgstr "Création {0}"

        msgid "Changed {0}"
        msgstr "Modification {0}"

        msgid "Deleted permanently {0}"
        msgstr "Suppression définitive {0}"

        msgid "Moved to the trash {0}"
        msgstr "Mise à la corbeille {0}"

        msgid "Restored from the trash {0}"
        msgstr "Restauration depuis la corbeille {0}"

        msgid "job {0}"
        msgstr "tâche {0}"

        msgid "user {0}"
        msgstr "utilisateur {0}"

        msgid "the server"
        msgstr "le serveur"

        msgid "a device"
        msgstr "un appareil"

        msgid "somebody who isn't logged in"
        msgstr "une personne non connectée"

        msgid "plain SQL ({0})"
        msgstr "SQL direct ({0})"

        msgid "by {0}"
        msgstr "par {0}"

        msgid "by user {0}"
        msgstr "par l’utilisateur {0}"

        msgid "by the server"
        msgstr "par le serveur"

        msgid "by a device"
        msgstr "par un appareil"

        msgid "by somebody who isn't logged in"
        msgstr "par une personne non connectée"

        msgid "by plain SQL ({0})"
        msgstr "en SQL direct ({0})"

        msgid "a service"
        msgstr "un service"

        msgid "over HTTP"
        msgstr "par HTTP"

        msgid "by sync, device {0}"
        msgstr "par synchronisation, appareil {0}"

        msgid "by sync, device unknown"
        msgstr "par synchronisation, appareil inconnu"

        msgid "with SQL"
        msgstr "en SQL"

        msgid "from {0}"
        msgstr "depuis {0}"

        msgid "secret"
        msgstr "secret"

        msgid "none"
        msgstr "aucune valeur"

        msgid "empty text"
        msgstr "texte vide"

        msgid "A field of the form isn't JSON."
        msgstr "Un champ du formulaire n’est pas du JSON."

        # Packages/Server/AdminPanel/Backups/BackupPages.swift

        msgid "A backup is being made."
        msgstr "Une sauvegarde est en cours."

        msgid "The backup {0} was deleted."
        msgstr "La sauvegarde {0} a été supprimée."

        msgid "Backups"
        msgstr "Sauvegardes"

        msgid "Delete {0}?"
        msgstr "Supprimer {0} ?"

        msgid "You are viewing the panel as {0}, and backups can only be seen as yourself."
        msgstr "Vous voyez le panneau en tant que {0}, et les sauvegardes ne sont visibles que sous votre propre identité."

        msgid "Stop viewing as {0} first: the button is at the top of every page."
        msgstr "Quittez d’abord l’affichage en tant que {0} : le bouton est en haut de chaque page."

        msgid "Backups are off on this server."
        msgstr "Les sauvegardes sont désactivées sur ce serveur."

        msgid "To turn them on, set {0} and {1}."
        msgstr "{0} et {1} les activent."

        # Packages/Server/AdminPanel/Backups/BackupsContent.swift

        msgid "unknown"
        msgstr "inconnu"

        msgid "Done. The previous database is now called {0}."
        msgstr "Terminé. Ce qui était utilisé jusque-là s’appelle maintenant {0}."

        msgid "Done."
        msgstr "Terminé."

        msgid "{0} is being restored."
        msgstr "{0} est en cours de restauration."

        msgid "{0} is being restored: checking privileges."
        msgstr "{0} est en cours de restauration : vérification des droits."

        msgid "{0} is being restored: making a new database."
        msgstr "{0} est en cours de restauration : création d’une nouvelle base de données."

        msgid "{0} is being restored: filling the new database. The server stays available."
        msgstr "{0} est en cours de restauration : remplissage de la nouvelle base de données. Tout continue entre-temps."

        msgid "{0} is being restored: preparing the new database."
        msgstr "{0} est en cours de restauration : préparation de la nouvelle base de données."

        msgid "{0} is being restored: swapping the databases."
        msgstr "{0} est en cours de restauration : les bases de données échangent leurs places."

        msgid "restoring"
        msgstr "restauration"

        msgid "Since {0}, by the schedule."
        msgstr "Depuis le {0}, lancement automatique."

        msgid "Since {0}, by {1}."
        msgstr "Depuis le {0}, auteur : {1}."

        msgid "running"
        msgstr "en cours"

        msgid "waiting"
        msgstr "en attente"

        msgid "It begins in a moment."
        msgstr "Elle va commencer dans un instant."

        msgid "No backups are made automatically."
        msgstr "Aucune sauvegarde automatique."

        msgid "every hour"
        msgstr "toutes les heures"

        msgid "every {0} hour"
        msgid_plural "every {0} hours"
        msgstr[0] "toutes les heures"
        msgstr[1] "toutes les {0} heures"

        msgid "Automatically {0}: the newest one is kept."
        msgstr "Automatiquement {0} : la plus récente est conservée."

        msgid "Automatically {0}: the newest {1} is kept."
        msgid_plural "Automatically {0}: the newest {1} are kept."
        msgstr[0] "Automatiquement {0} : la plus récente est conservée."
        msgstr[1] "Automatiquement {0} : les {1} plus récentes sont conservées."

        msgid "the schedule"
        msgstr "planification"

        msgid "{0} s"
        msgstr "{0} s"

        msgid "{0} min {1} s"
        msgstr "{0} min {1} s"

        # Packages/Server/AdminPanel/Backups/RestorePages.swift

        msgid "The database {0} was deleted."
        msgstr "La base de données {0} a été supprimée."

        msgid "This server can't restore backups."
        msgstr "Ce serveur ne restaure pas de sauvegardes."

        msgid "Set {0} to turn it on: see docs/backups.md."
        msgstr "{0} l’active ; docs/backups.md décrit les étapes."

        msgid "Restore {0}?"
        msgstr "Restaurer {0} ?"

        msgid "According to the audit log, nothing has changed since then."
        msgstr "Rien n’a été modifié depuis, d’après le journal d’audit."

        msgid "More than {0} changes have been made since then."
        msgstr "Plus de {0} modifications ont été faites depuis."

        msgid "{0} change has been made since then."
        msgid_plural "{0} changes have been made since then."
        msgstr[0] "{0} modification a été faite depuis."
        msgstr[1] "{0} modifications ont été faites depuis."

        # Packages/Server/AdminPanel/Custom/PanelRequest+Objects.swift

        msgid "Pages may not change data."
        msgstr "Une page ne modifie rien."

        msgid "Register an action for that."
        msgstr "Enregistrez une action pour cela."

        msgid "There is no class '{0}'."
        msgstr "La classe « {0} » n’existe pas."

        # Packages/Server/AdminPanel/Devices/DeviceAnswers.swift

        msgid "None of the user's devices is connected to any gateway."
        msgstr "Aucun des appareils de l’utilisateur n’est connecté à une passerelle."

        msgid "None of the user's devices is connected to a gateway that answered."
        msgstr "Aucun des appareils de l’utilisateur n’est connecté à une passerelle qui a répondu."

        msgid "The device isn't connected to any gateway."
        msgstr "L’appareil n’est connecté à aucune passerelle."

        msgid "The device isn't connected to a gateway that answered."
        msgstr "L’appareil n’est connecté à aucune passerelle qui a répondu."

        msgid "It was last seen on {0}."
        msgstr "Il a été vu pour la dernière fois le {0}."

        msgid "No gateway has ever seen it."
        msgstr "Aucune passerelle ne l’a jamais vu."

        msgid "A device gets what it's missing when it connects."
        msgstr "Un appareil reçoit ce qui lui manque quand il se connecte."

        msgid "There may be a connection to {0}."
        msgstr "Il est peut-être connecté à {0}."

        # Packages/Server/AdminPanel/Devices/DevicePages.swift

        msgid "Sync devices"
        msgstr "Appareils synchronisés"

        msgid "All devices"
        msgstr "Tous les appareils"

        msgid "A connected device"
        msgstr "Un appareil connecté"

        msgid "objects"
        msgstr "des objets"

        msgid "Why is an object missing?"
        msgstr "Pourquoi un objet manque-t-il ?"

        msgid "This gateway is no longer running."
        msgstr "Cette passerelle ne fonctionne plus."

        msgid "Its devices have moved to another gateway."
        msgstr "Ses appareils se sont connectés à une autre."

        msgid "The gateway {0} doesn't answer."
        msgstr "La passerelle {0} ne répond pas."

        msgid "Try again, or check whether it's running."
        msgstr "Réessayez, ou vérifiez qu’elle fonctionne."

        msgid "Enter a user or a device."
        msgstr "Saisissez un utilisateur ou un appareil."

        msgid "Gateways answer only you, not the person you're viewing the panel as."
        msgstr "Les passerelles ne répondent qu’à vous, pas quand vous voyez le panneau en tant que quelqu’un d’autre."

        msgid "Stop viewing as {0} to ask them."
        msgstr "Quittez l’affichage en tant que {0} pour les interroger."

        msgid "No account has this address or id."
        msgstr "Aucun compte n’a cette adresse ni cet identifiant."

        msgid "The list of accounts has both."
        msgstr "La liste des comptes contient les deux."

        # Packages/Server/AdminPanel/Devices/DeviceSessionContent.swift

        msgid "{0}: {1}, version {2}"
        msgstr "{0} : {1}, version {2}"

        msgid "and {0} more"
        msgstr "et {0} de plus"

        msgid "not known yet"
        msgstr "pas encore connu"

        msgid "not authenticated yet"
        msgstr "pas encore admis"

        msgid "Device"
        msgstr "Appareil"

        msgid "User"
        msgstr "Utilisateur"

        msgid "Gateway"
        msgstr "Passerelle"

        msgid "Address"
        msgstr "Adresse"

        msgid "State"
        msgstr "État"

        msgid "Connected for"
        msgstr "Durée de connexion"

        msgid "Model"
        msgstr "Modèle"

        msgid "Partition"
        msgstr "Partition"

        msgid "Has everything up to tick"
        msgstr "À jour jusqu’au tick"

        msgid "Behind"
        msgstr "Retard"

        msgid "Batches not applied yet"
        msgstr "Lots pas encore appliqués"

        msgid "Follows changes live"
        msgstr "Suit les changements en direct"

        msgid "Changesets"
        msgstr "Jeux de modifications"

        msgid "Connection"
        msgstr "Connexion"

        msgid "Reading a batch for it"
        msgstr "Lecture d’un lot en cours"

        msgid "Subscriptions"
        msgstr "Abonnements"

        msgid "Subscriptions waiting for the current batch"
        msgstr "Abonnements qui attendent le lot en cours"

        msgid "{0} received, {1} acknowledged, {2} waiting, {3} under way"
        msgstr "{0} reçus, {1} confirmés, {2} en attente, {3} en cours"

        msgid "{0} bytes pending, {1} bytes spooled"
        msgstr "{0} octets en attente, {1} octets mis en tampon"

        msgid "{0} bytes pending, {1} bytes spooled, not accepting data"
        msgstr "{0} octets en attente, {1} octets mis en tampon, n’accepte rien en ce moment"

        # Packages/Server/AdminPanel/Devices/DeviceWhyContent.swift

        msgid "available to this device"
        msgstr "disponible pour cet appareil"

        msgid "not available to this device"
        msgstr "non disponible pour cet appareil"

        msgid "Connected devices that aren't shown: {0}. Ask about one of them by its id."
        msgstr "Appareils connectés non affichés : {0}. Interrogez l’un d’eux par son identifiant."

        msgid "not connected"
        msgstr "non connecté"

        msgid "connected"
        msgstr "connecté"

        msgid "{0} at {1}"
        msgstr "{0} sur {1}"

        msgid "{0} at {1}, tick {2}"
        msgstr "{0} sur {1}, tick {2}"

        # Packages/Server/AdminPanel/Devices/DeviceWords.swift

        msgctxt "state of a device"
        msgid "waiting"
        msgstr "en attente"

        msgctxt "state of a device"
        msgid "authenticating"
        msgstr "authentification"

        msgctxt "state of a device"
        msgid "opening"
        msgstr "ouverture"

        msgctxt "state of a device"
        msgid "verifying"
        msgstr "vérification"

        msgctxt "state of a device"
        msgid "reading"
        msgstr "lecture"

        msgctxt "state of a device"
        msgid "live"
        msgstr "en direct"

        msgctxt "state of a device"
        msgid "closed"
        msgstr "fermé"

        msgid "{0}.{1} s"
        msgstr "{0},{1} s"

        msgid "{0} tick, {1}"
        msgid_plural "{0} ticks, {1}"
        msgstr[0] "{0} tick, {1}"
        msgstr[1] "{0} ticks, {1}"

        msgid "{0} min"
        msgstr "{0} min"

        msgid "{0} h {1} min"
        msgstr "{0} h {1} min"

        msgid "{0} d {1} h"
        msgstr "{0} j {1} h"

        msgid "{0} and {1}"
        msgstr "{0} et {1}"

        # Packages/Server/AdminPanel/Devices/DevicesContent.swift

        msgid "{0} connected device"
        msgid_plural "{0} connected devices"
        msgstr[0] "{0} appareil connecté"
        msgstr[1] "{0} appareils connectés"

        msgid "answers"
        msgstr "répond"

        msgid "refuses"
        msgstr "refuse"

        msgid "doesn't answer"
        msgstr "ne répond pas"

        msgid "isn't there"
        msgstr "absente"

        msgid "No gateway is running on this database."
        msgstr "Aucune passerelle ne fonctionne sur cette base de données."

        msgid "Start sync-gateway. A new gateway appears here within a few seconds."
        msgstr "Lancez sync-gateway. Une passerelle qui vient de démarrer apparaît ici au bout de quelques secondes."

        msgid "No answer from {0} within {1} seconds. Devices connected there are missing from this page."
        msgstr "Pas de réponse en {1} secondes : {0}. Les appareils qui y sont connectés manquent."

        msgid "When a gateway is killed, its devices connect to another one. This page stops asking a killed gateway after {0} seconds."
        msgstr "Si une passerelle a été tuée, ses appareils se connectent à une autre, et elle n’est plus interrogée après {0} secondes."

        msgid "{0} stopped without signing off, or can't reach the database, so it wasn't asked."
        msgstr "{0} : arrêt sans prévenir, ou base de données inaccessible ; pas d’interrogation."

        msgid "No other gateway is running."
        msgstr "Aucune autre passerelle ne fonctionne."

        # Packages/Server/AdminPanel/Documents/Changing/ModelChangeContent.swift

        msgid "text"
        msgstr "texte"

        msgid "whole number"
        msgstr "nombre entier"

        msgid "number with a fraction"
        msgstr "nombre à virgule"

        msgid "exact decimal number"
        msgstr "nombre décimal exact"

        msgid "yes or no"
        msgstr "oui ou non"

        msgid "date and time"
        msgstr "date et heure"

        msgid "bytes"
        msgstr "octets"

        msgid "whole number, 32 bits"
        msgstr "nombre entier, 32 bits"

        msgid "whole number, 16 bits"
        msgstr "nombre entier, 16 bits"

        msgid "whole number, 8 bits"
        msgstr "nombre entier, 8 bits"

        msgid "number with a fraction, 32 bits"
        msgstr "nombre à virgule, 32 bits"

        msgid "list of {0}"
        msgstr "liste : {0}"

        msgid "link to {0}"
        msgstr "lien vers {0}"

        msgid "list of links to {0}"
        msgstr "liste de liens vers {0}"

        msgid "embedded {0}"
        msgstr "imbriqué : {0}"

        msgid "list of embedded {0}"
        msgstr "liste, imbriqué : {0}"

        # Packages/Server/AdminPanel/Documents/Changing/ModelChangeForm.swift

        msgid "The texts have {0} bytes together. The limit here is {1}: use 'migration-tool apply' for larger ones."
        msgstr "Les textes font {0} octets ensemble. Ici, {1} au plus sont possibles : utilisez « migration-tool apply » pour de plus longs."

        msgid "The file {0} isn't UTF-8 text, so the text was left unchanged."
        msgstr "Le fichier {0} n’est pas du texte en UTF-8, le texte reste donc tel quel."

        # Packages/Server/AdminPanel/Documents/Changing/ModelChangePage.swift

        msgid "This is wrong:"
        msgstr "Voici ce qui est incorrect :"

        msgid "These are wrong:"
        msgstr "Voici tout ce qui est incorrect :"

        msgid "Change the model of {0}"
        msgstr "Modifier le modèle : {0}"

        msgid "One of the small forms is filled in and wasn't used. Press its button, or clear it."
        msgstr "L’un des petits formulaires est rempli et n’a pas été utilisé. Appuyez sur son bouton, ou videz-le."

        msgid "There is nothing to change: this is what is already in use."
        msgstr "Rien ne diffère de ce qui est utilisé."

        msgid "What would happen"
        msgstr "Ce qui se passerait"

        msgid "Somebody has changed the models or the rules since you began, and your text doesn't include those changes."
        msgstr "Quelqu’un a modifié les modèles ou les règles depuis que vous avez commencé, et votre texte n’en tient pas compte."

        msgid "Copy what you need into your text, then continue. The text is stored exactly as it stands."
        msgstr "Reprenez dans votre texte ce qu’il vous en faut, puis continuez. C’est le contenu du texte qui sera enregistré."

        msgid "The database has changed since you saw the plan. Nothing was done: this is what would happen now."
        msgstr "Quelque chose a changé dans la base de données depuis que vous avez vu le plan. Rien n’a été fait : voici ce qui se passerait maintenant."

        msgid "There is no app with that name."
        msgstr "Aucune application ne porte ce nom."

        msgid "The page Model and rules lists the apps."
        msgstr "La page « Modèle et règles » liste les applications."

        msgid "The app has no rules."
        msgstr "L’application n’a pas de règles."

        # Packages/Server/AdminPanel/Documents/Changing/ModelChangePages.swift

        msgid "Changing the model"
        msgstr "Modification du modèle"

        msgid "You are viewing the panel as {0}, who can't change models."
        msgstr "Vous voyez le panneau en tant que {0}, et les modèles ne se modifient que sous votre propre identité."

        # Packages/Server/AdminPanel/Documents/Changing/ModelPlanContent.swift

        msgid "The model's text"
        msgstr "Texte du modèle"

        msgid "The rules' text"
        msgstr "Texte des règles"

        msgid "From then on, these rules decide who may do what, and that includes you. If they take the permission matrix away from every super administrator, only somebody with the database's password can bring it back, with migration-tool apply --replace-boxes."
        msgstr "Ces règles décident désormais de qui peut faire quoi, y compris pour vous. Si elles retirent la matrice des autorisations à tous les super-administrateurs, seule une personne ayant le mot de passe de la base peut la rétablir, avec migration-tool apply --replace-boxes."

        msgid "{0}: at least {1} row has it."
        msgid_plural "{0}: at least {1} rows have it."
        msgstr[0] "{0} : présent dans au moins {1} ligne."
        msgstr[1] "{0} : présent dans au moins {1} lignes."

        msgid "{0}: {1} row has it."
        msgid_plural "{0}: {1} rows have it."
        msgstr[0] "{0} : présent dans {1} ligne."
        msgstr[1] "{0} : présent dans {1} lignes."

        msgid "{0}: at least {1} row"
        msgid_plural "{0}: at least {1} rows"
        msgstr[0] "{0} : au moins {1} ligne"
        msgstr[1] "{0} : au moins {1} lignes"

        msgid "{0}: {1} row"
        msgid_plural "{0}: {1} rows"
        msgstr[0] "{0} : {1} ligne"
        msgstr[1] "{0} : {1} lignes"

        msgid "The texts are too long or too different to compare line by line."
        msgstr "Les textes sont trop longs, ou trop différents, pour être comparés ligne par ligne."

        msgid "Lines added: {0}. Lines removed: {1}."
        msgstr "Lignes ajoutées : {0}. Lignes supprimées : {1}."

        # Packages/Server/AdminPanel/Documents/Changing/ModelRunContent.swift

        msgid "Step {0} of {1}: {2}"
        msgstr "Étape {0} sur {1} : {2}"

        # Packages/Server/AdminPanel/Documents/Changing/ModelWish.swift

        msgid "The class {0} was added to the text."
        msgstr "La classe {0} a été ajoutée au texte."

        msgid "Choose the class of the new property."
        msgstr "Choisissez la classe de la nouvelle propriété."

        msgid "{0}.{1} was added to the text."
        msgstr "La propriété {0}.{1} a été ajoutée au texte."

        msgid "Choose the property to rename."
        msgstr "Choisissez la propriété à renommer."

        msgid "{0} is now called {1} in the text. Rules that name it must be changed too."
        msgstr "{0} s’appelle {1} dans le texte. Les règles qui citent ce nom doivent être modifiées aussi."

        msgid "Choose what to drop."
        msgstr "Choisissez ce qui doit être retiré."

        msgid "{0} was removed from the text. Its values stay in the database."
        msgstr "« {0} » ne figure plus dans le texte. Les valeurs restent dans la base de données."

        msgid "Every object in Swift has a member called '{0}'. Choose another name."
        msgstr "En Swift, tout objet a un membre appelé « {0} ». Choisissez un autre nom."

        msgid "Choose the type of the new property."
        msgstr "Choisissez le type de la nouvelle propriété."

        msgid "The possible values of a whole number must be whole numbers."
        msgstr "Les valeurs d’un nombre entier sont des nombres entiers."

        msgid "Enter at most {0} different values, each of at most {1} bytes."
        msgstr "Indiquez au plus {0} valeurs, toutes différentes et d’au plus {1} octets chacune."

        # Packages/Server/AdminPanel/Documents/DocumentContent.swift

        msgid "The models of {0}"
        msgstr "Modèles : {0}"

        msgid "The rules of {0}"
        msgstr "Règles : {0}"

        msgid "Version {0}"
        msgstr "Version {0}"

        msgid "What changed in the models of {0}"
        msgstr "Modifications des modèles : {0}"

        msgid "What changed in the rules of {0}"
        msgstr "Modifications des règles : {0}"

        msgid "Version {0} compared with version {1}"
        msgstr "Version {0} comparée à la version {1}"

        msgid "Nothing changed: the texts are the same."
        msgstr "Rien n’a changé : les textes sont identiques."

        msgid "{0} line was added, {1} removed."
        msgid_plural "{0} lines were added, {1} removed."
        msgstr[0] "{0} ligne ajoutée, lignes supprimées : {1}."
        msgstr[1] "{0} lignes ajoutées, lignes supprimées : {1}."

        # Packages/Server/AdminPanel/Documents/DocumentPages.swift

        msgid "Model and rules"
        msgstr "Modèle et règles"

        msgid "There is no such version, or nothing to compare to."
        msgstr "Cette version n’existe pas, ou il n’y en a aucune à laquelle la comparer."

        msgid "The history lists all versions."
        msgstr "L’historique liste toutes les versions."

        # Packages/Server/AdminPanel/Documents/DocumentsContent.swift

        msgid "models"
        msgstr "modèles"

        msgid "rules"
        msgstr "règles"

        msgid "a tool"
        msgstr "un outil"

        msgid "{0} class"
        msgid_plural "{0} classes"
        msgstr[0] "{0} classe"
        msgstr[1] "{0} classes"

        msgid "{0} app"
        msgid_plural "{0} apps"
        msgstr[0] "{0} application"
        msgstr[1] "{0} applications"

        msgid "This server has loaded version {0}: {1} in {2}."
        msgstr "Ce serveur a chargé la version {0} : {1} dans {2}."

        # Packages/Server/AdminPanel/Formatting/Counted.swift

        msgctxt "number of a class"
        msgid "{0} {1}"
        msgstr "{0} {1}"

        msgid "{0} object"
        msgid_plural "{0} objects"
        msgstr[0] "{0} objet"
        msgstr[1] "{0} objets"

        # Packages/Server/AdminPanel/Formatting/Moment.swift

        msgid "just now"
        msgstr "à l’instant"

        msgid "{0} year ago"
        msgid_plural "{0} years ago"
        msgstr[0] "il y a {0} an"
        msgstr[1] "il y a {0} ans"

        msgid "in {0} year"
        msgid_plural "in {0} years"
        msgstr[0] "dans {0} an"
        msgstr[1] "dans {0} ans"

        msgid "{0} month ago"
        msgid_plural "{0} months ago"
        msgstr[0] "il y a {0} mois"
        msgstr[1] "il y a {0} mois"

        msgid "in {0} month"
        msgid_plural "in {0} months"
        msgstr[0] "dans {0} mois"
        msgstr[1] "dans {0} mois"

        msgid "{0} day ago"
        msgid_plural "{0} days ago"
        msgstr[0] "il y a {0} jour"
        msgstr[1] "il y a {0} jours"

        msgid "in {0} day"
        msgid_plural "in {0} days"
        msgstr[0] "dans {0} jour"
        msgstr[1] "dans {0} jours"

        msgid "{0} hour ago"
        msgid_plural "{0} hours ago"
        msgstr[0] "il y a {0} heure"
        msgstr[1] "il y a {0} heures"

        msgid "in {0} hour"
        msgid_plural "in {0} hours"
        msgstr[0] "dans {0} heure"
        msgstr[1] "dans {0} heures"

        msgid "{0} minute ago"
        msgid_plural "{0} minutes ago"
        msgstr[0] "il y a {0} minute"
        msgstr[1] "il y a {0} minutes"

        msgid "in {0} minute"
        msgid_plural "in {0} minutes"
        msgstr[0] "dans {0} minute"
        msgstr[1] "dans {0} minutes"

        # Packages/Server/AdminPanel/Formatting/PanelValues.swift

        msgid "'page' must be a number from 1 to {0}."
        msgstr "« page » n’est pas un nombre de 1 à {0}."

        # Packages/Server/AdminPanel/Forms/EnteredValues.swift

        msgid "Row"
        msgstr "Ligne"

        # Packages/Server/AdminPanel/Forms/FormPart+Values.swift

        msgid "It's already in the list."
        msgstr "C’est déjà dans la liste."

        msgid "Choose another one."
        msgstr "Choisissez autre chose."

        # Packages/Server/AdminPanel/Forms/FormRenderer.swift

        msgid "The form has something unexpected at '{0}'."
        msgstr "Le formulaire contient autre chose à « {0} »."

        # Packages/Server/AdminPanel/Forms/FormValues.swift

        msgid "The form doesn't say how many elements '{0}' has, or there are more than {1}."
        msgstr "Le formulaire n’indique pas combien d’éléments contient « {0} », ou il y en a plus de {1}."

        msgid "Load the form again."
        msgstr "Rechargez le formulaire."

        # Packages/Server/AdminPanel/Imports/ImportPage.swift

        msgid "The file"
        msgstr "Le fichier"

        msgid "Line"
        msgstr "Ligne"

        msgid "Import {0}"
        msgstr "Importer : {0}"

        msgid "All new ones"
        msgstr "Tous les nouveaux"

        msgid "All rows were read, and the first {0} were tried against the data. Others may still turn out to be unchanged or have errors."
        msgstr "Toutes les lignes ont été lues, et les {0} premières ont été essayées sur les données : d’autres peuvent encore s’avérer inchangées ou contenir des erreurs."

        msgid "{0} row to create"
        msgid_plural "{0} rows to create"
        msgstr[0] "{0} ligne à créer"
        msgstr[1] "{0} lignes à créer"

        msgid "{0} row to update"
        msgid_plural "{0} rows to update"
        msgstr[0] "{0} ligne à mettre à jour"
        msgstr[1] "{0} lignes à mettre à jour"

        msgid "{0} row unchanged"
        msgid_plural "{0} rows unchanged"
        msgstr[0] "{0} ligne inchangée"
        msgstr[1] "{0} lignes inchangées"

        msgid "{0} row with errors"
        msgid_plural "{0} rows with errors"
        msgstr[0] "{0} ligne avec des erreurs"
        msgstr[1] "{0} lignes avec des erreurs"

        msgid "Update"
        msgstr "Mettre à jour"

        msgid "Unchanged"
        msgstr "Inchangée"

        msgid "Error"
        msgstr "Erreur"

        msgid "{0} row"
        msgid_plural "{0} rows"
        msgstr[0] "{0} ligne"
        msgstr[1] "{0} lignes"

        # Packages/Server/AdminPanel/Imports/ImportPages.swift

        msgid "whatever the file uses"
        msgstr "ce que contient le fichier"

        msgid "commas"
        msgstr "des virgules"

        msgid "semicolons"
        msgstr "des points-virgules"

        msgid "tabs"
        msgstr "des tabulations"

        msgctxt "may …"
        msgid "create or update"
        msgstr "créer ou modifier"

        msgid "There is no such import."
        msgstr "Cet import n’existe pas."

        msgid "Jobs lists the ones you have."
        msgstr "La page Tâches liste les vôtres."

        msgid "No file was chosen."
        msgstr "Aucun fichier n’a été choisi."

        msgid "Choose one."
        msgstr "Choisissez-en un."

        # Packages/Server/AdminPanel/Imports/MultipartDecoder.swift

        msgid "Go back, load the page again, and send the form again."
        msgstr "Revenez en arrière, rechargez la page et renvoyez le formulaire."

        msgid "The form is incomplete."
        msgstr "Le formulaire est interrompu."

        msgid "The form doesn't begin with its boundary."
        msgstr "Le formulaire ne commence pas par son délimiteur."

        msgid "The form has a malformed boundary."
        msgstr "Le délimiteur du formulaire n’est pas valide."

        msgid "A part of the form has a header longer than {0} bytes."
        msgstr "Une partie du formulaire a un en-tête de plus de {0} octets."

        msgid "The form has more than {0} parts."
        msgstr "Le formulaire a plus de {0} parties."

        msgid "A part of the form has a header that isn't UTF-8."
        msgstr "Une partie du formulaire a un en-tête qui n’est pas en UTF-8."

        msgid "A part of the form has no name."
        msgstr "Une partie du formulaire n’a pas de nom."

        # Packages/Server/AdminPanel/Imports/PanelUpload.swift

        msgid "The form has more than {0} bytes."
        msgstr "Le formulaire dépasse {0} octets."

        msgid "Send a smaller file."
        msgstr "Envoyez un fichier plus petit."

        msgid "A field of the form has more than {0} bytes."
        msgstr "Un champ du formulaire dépasse {0} octets."

        # Packages/Server/AdminPanel/Jobs/BulkPage.swift

        msgid "Nothing is ticked. Tick rows, or choose all that match."
        msgstr "Rien n’est coché. Cochez des lignes, ou choisissez toutes celles qui correspondent."

        msgid "All matching {0}"
        msgstr "Tous les résultats : {0}"

        msgid "Change {0}"
        msgstr "Modifier : {0}"

        msgid "Nothing matches"
        msgstr "Aucune correspondance"

        msgid "The matching objects have changed"
        msgstr "Les objets correspondants ont changé"

        msgid "Tick at least one field to change."
        msgstr "Cochez au moins un champ à modifier."

        # Packages/Server/AdminPanel/Jobs/BulkPages.swift

        msgctxt "may …"
        msgid "change or restore"
        msgstr "modifier ou restaurer"

        # Packages/Server/AdminPanel/Jobs/BulkTrialContent.swift

        msgid "This was a trial with all of them. Nothing has changed yet."
        msgstr "Essai effectué sur la totalité. Rien n’a encore été modifié."

        msgid "This was a trial with {0} of them. Nothing has changed yet."
        msgstr "Essai effectué sur une partie ({0}). Rien n’a encore été modifié."

        msgid "{0} of those that you chose no longer exists."
        msgid_plural "{0} of those that you chose no longer exist."
        msgstr[0] "{0} des objets choisis n’existe plus."
        msgstr[1] "{0} des objets choisis n’existent plus."

        msgid "{0} needs no change."
        msgid_plural "{0} need no change."
        msgstr[0] "{0} objet n’a pas besoin d’être modifié."
        msgstr[1] "{0} objets n’ont pas besoin d’être modifiés."

        msgid "{0} of those tried would be refused, and stays unchanged:"
        msgid_plural "{0} of those tried would be refused, and stay unchanged:"
        msgstr[0] "{0} objet essayé serait refusé et resterait inchangé :"
        msgstr[1] "{0} objets essayés seraient refusés et resteraient inchangés :"

        msgid "The app keeps {0} of those tried for now, so it can't be deleted permanently:"
        msgid_plural "The app keeps {0} of those tried for now, so they can't be deleted permanently:"
        msgstr[0] "L’application garderait pour l’instant {0} objet essayé dans la corbeille, sans suppression définitive possible :"
        msgstr[1] "L’application garderait pour l’instant {0} objets essayés dans la corbeille, sans suppression définitive possible :"

        # Packages/Server/AdminPanel/Jobs/BulkWords.swift

        msgid "Move {0} to the trash"
        msgstr "Mettre à la corbeille : {0}"

        msgid "Restore {0}"
        msgstr "Restaurer : {0}"

        msgid "Delete {0} permanently"
        msgstr "Supprimer définitivement : {0}"

        msgid "Change {0}?"
        msgstr "Modifier {0} ?"

        msgid "Move {0} to the trash?"
        msgstr "Mettre {0} à la corbeille ?"

        msgid "Delete {0} permanently?"
        msgstr "Supprimer définitivement {0} ?"

        msgid "{0} other comes back with them."
        msgid_plural "{0} others come back with them."
        msgstr[0] "{0} autre objet sera restauré en même temps."
        msgstr[1] "{0} autres objets seront restaurés en même temps."

        msgid "{0} other goes into the trash with them."
        msgid_plural "{0} others go into the trash with them."
        msgstr[0] "{0} autre objet ira à la corbeille en même temps."
        msgstr[1] "{0} autres objets iront à la corbeille en même temps."

        msgid "Change fields…"
        msgstr "Modifier des champs…"

        msgid "Move to trash…"
        msgstr "Mettre à la corbeille…"

        msgid "Delete permanently…"
        msgstr "Supprimer définitivement…"

        # Packages/Server/AdminPanel/Jobs/JobContent.swift

        msgid "It starts over: all or nothing."
        msgstr "Elle recommence : tout ou rien."

        msgid "It continues with the remaining rows, and doesn't process any row twice."
        msgstr "Elle reprend avec les lignes restantes, aucune deux fois."

        msgid "Stop the job"
        msgstr "Arrêter la tâche"

        msgid "Discard"
        msgstr "Abandonner"

        msgid "{0} of {1}"
        msgstr "{0} / {1}"

        msgid "Requested"
        msgstr "Demande"

        msgid "Started"
        msgstr "Début"

        msgid "Finished"
        msgstr "Fin"

        msgid "Undoes job {0}"
        msgstr "Défait la tâche {0}"

        msgid "Undone by job {0}"
        msgstr "Défaite par la tâche {0}"

        msgid "Choose its columns and start it"
        msgstr "Choisir ses colonnes et la lancer"

        msgid "new object"
        msgstr "nouvel objet"

        # Packages/Server/AdminPanel/Jobs/JobPages.swift

        msgid "Jobs"
        msgstr "Tâches"

        msgid "jobs"
        msgstr "tâches"

        msgid "Undo this job?"
        msgstr "Défaire cette tâche ?"

        msgid "You have no job with this number."
        msgstr "Vous n’avez pas de tâche portant ce numéro."

        msgid "'{0}' isn't a number."
        msgstr "« {0} » n’est pas un nombre."

        msgid "This job can't be undone, or no longer can be."
        msgstr "Cette tâche ne peut pas, ou plus, être défaite."

        msgid "Its page says what it did."
        msgstr "Sa page indique ce qu’elle a fait."

        # Packages/Server/AdminPanel/Jobs/JobWords.swift

        msgid "Done"
        msgstr "Terminé"

        msgid "Refused"
        msgstr "Refusé"

        msgid "Skipped"
        msgstr "Ignoré"

        msgid "Pending"
        msgstr "En attente"

        msgid "Undo job {0}: {1}"
        msgstr "Défaire la tâche {0} : {1}"

        msgid "Not started"
        msgstr "Non démarré"

        msgid "Waiting"
        msgstr "En attente"

        msgid "Running"
        msgstr "En cours"

        msgid "Failed"
        msgstr "Échec"

        msgid "Cancelled"
        msgstr "Annulé"

        msgid "Line {0}"
        msgstr "Ligne {0}"

        msgid "Row {0}"
        msgstr "Ligne {0}"

        msgid "The job was stopped. What it did stays."
        msgstr "La tâche a été arrêtée. Ce qu’elle a déjà fait est conservé."

        msgid "The file was discarded. Nothing was changed."
        msgstr "Le fichier a été abandonné. Rien n’a été modifié."

        msgid "The job was discarded. Nothing was changed."
        msgstr "La tâche a été abandonnée. Rien n’a été modifié."

        msgid "{0}: restored from the trash, with what was moved there along with it."
        msgid_plural "{0}: restored from the trash, with what was moved there along with them."
        msgstr[0] "{0} : restauration depuis la corbeille, avec ce qui y est allé en même temps."
        msgstr[1] "{0} : restauration depuis la corbeille, avec ce qui y est allé en même temps."

        msgid "{0}: moved to the trash again, with what was restored along with it."
        msgid_plural "{0}: moved to the trash again, with what was restored along with them."
        msgstr[0] "{0} : remise à la corbeille, avec ce qui a été restauré en même temps."
        msgstr[1] "{0} : remise à la corbeille, avec ce qui a été restauré en même temps."

        msgid "{0}: set back to the previous values."
        msgstr "{0} : les valeurs précédentes seront rétablies."

        msgid "{0}: what was done to it is undone."
        msgid_plural "{0}: what was done to them is undone."
        msgstr[0] "{0} : ce qui a été fait sera défait."
        msgstr[1] "{0} : ce qui a été fait sera défait."

        msgid "Reason: {0}"
        msgstr "Motif : {0}"

        # Packages/Server/AdminPanel/Layout/PanelAssets.swift

        msgid "There is no such file."
        msgstr "Ce fichier n’existe pas."

        # Packages/Server/AdminPanel/Layout/PanelLayout.swift

        msgid "Data"
        msgstr "Données"

        # Packages/Server/AdminPanel/Layout/PanelTheme.swift

        msgid "same as the system"
        msgstr "comme le système"

        msgid "light"
        msgstr "clair"

        msgid "dark"
        msgstr "sombre"

        msgid "Unknown colour scheme."
        msgstr "Ces couleurs n’existent pas."

        msgid "Choose system, light or dark."
        msgstr "Choisissez system, light ou dark."

        msgid "The panel isn't available in this language."
        msgstr "Les pages n’existent pas dans cette langue."

        msgid "Choose one of {0}."
        msgstr "Choisissez parmi : {0}."

        # Packages/Server/AdminPanel/Lists/CellText.swift

        msgid "Too long to show"
        msgstr "Trop long pour être affiché"

        msgid "no bytes"
        msgstr "aucun octet"

        msgid "{0} byte"
        msgid_plural "{0} bytes"
        msgstr[0] "{0} octet"
        msgstr[1] "{0} octets"

        msgid "Yes"
        msgstr "Oui"

        msgid "No"
        msgstr "Non"

        # Packages/Server/AdminPanel/Lists/ClassPages.swift

        msgid "objects of a class"
        msgstr "des objets d’une classe"

        msgid "Did you mean '{0}'?"
        msgstr "Vouliez-vous dire « {0} » ?"

        msgid "The overview lists the classes."
        msgstr "La vue d’ensemble liste les classes."

        msgctxt "may …"
        msgid "update"
        msgstr "modifier"

        msgctxt "may …"
        msgid "create"
        msgstr "créer"

        msgctxt "may …"
        msgid "delete or trash"
        msgstr "supprimer ou mettre à la corbeille"

        msgid "There is no class at this address."
        msgstr "Il n’y a pas de classe à cette adresse."

        # Packages/Server/AdminPanel/Lists/ClassTitle.swift

        msgid "many"
        msgstr "un grand nombre"

        # Packages/Server/AdminPanel/Lists/ExportPages.swift

        msgid "CSV, for spreadsheets"
        msgstr "CSV, pour les tableurs"

        msgid "JSON"
        msgstr "JSON"

        msgid "JSON lines"
        msgstr "JSON Lines"

        # Packages/Server/AdminPanel/Lists/FilterForm+Counts.swift

        msgid "other values"
        msgstr "autres valeurs"

        # Packages/Server/AdminPanel/Lists/FilterForm+Values.swift

        msgid "a whole number"
        msgstr "un nombre entier"

        msgid "a number, such as 12.5"
        msgstr "un nombre, comme 12.5"

        msgid "a date, such as 2026-05-14 or 2026-05-14 13:22, in UTC"
        msgstr "une date, comme 2026-05-14 ou 2026-05-14 13:22, en UTC"

        # Packages/Server/AdminPanel/Lists/FilterForm.swift

        msgid "Id"
        msgstr "Identifiant"

        msgctxt "a field and what is asked of it"
        msgid "{0} {1}"
        msgstr "{0} {1}"

        msgctxt "a field, what is asked of it, and a value"
        msgid "{0} {1} {2}"
        msgstr "{0} {1} {2}"

        msgid "{0} can't be tested with '{1}'."
        msgstr "{0} : le test « {1} » n’est pas possible."

        msgid "{0}: '{1}' isn't {2}."
        msgstr "{0} : « {1} » ne convient pas, il faut {2}."

        msgid "Enter {0}."
        msgstr "Saisissez {0}."

        msgid "{0}: there is no '{1}' among the {2}."
        msgstr "{0} : « {1} » n’existe pas parmi : {2}."

        msgid "Enter its title exactly, or its id."
        msgstr "Saisissez son titre exact, ou son identifiant."

        msgid "{0}: several of the {1} are called '{2}'."
        msgstr "{0} : plusieurs objets ({1}) s’appellent « {2} »."

        msgid "Enter the id of the one that you mean."
        msgstr "Saisissez l’identifiant de celui que vous voulez."

        # Packages/Server/AdminPanel/Lists/FilterTest.swift

        msgid "is"
        msgstr "est"

        msgid "is not"
        msgstr "n’est pas"

        msgid "contains"
        msgstr "contient"

        msgid "starts with"
        msgstr "commence par"

        msgid "is before"
        msgstr "est avant"

        msgid "is less than"
        msgstr "vaut moins de"

        msgid "is not after"
        msgstr "n’est pas après"

        msgid "is at most"
        msgstr "vaut au plus"

        msgid "is after"
        msgstr "est après"

        msgid "is more than"
        msgstr "vaut plus de"

        msgid "is not before"
        msgstr "n’est pas avant"

        msgid "is at least"
        msgstr "vaut au moins"

        msgid "is one of"
        msgstr "est parmi"

        msgid "is empty"
        msgstr "est vide"

        msgid "is not empty"
        msgstr "n’est pas vide"

        # Packages/Server/AdminPanel/Lists/ListPage.swift

        msgid "all {0} that match"
        msgstr "toutes les lignes qui correspondent ({0})"

        msgid "all {0}"
        msgstr "toutes les lignes ({0})"

        # Packages/Server/AdminPanel/Lists/ListRequest.swift

        msgid "{0} have no field '{1}'."
        msgstr "Il n’y a pas de champ « {1} » dans « {0} »."

        msgid "The search has more than {0} bytes."
        msgstr "La recherche dépasse {0} octets."

        msgid "Use a shorter search text."
        msgstr "Recherchez un texte plus court."

        msgid "'{0}' must be 1, which shows counts."
        msgstr "« {0} » ne peut être que 1, ce qui affiche les nombres."

        msgid "Leave '{0}' out of the address for a list without counts."
        msgstr "Retirez « {0} » de l’adresse pour une liste sans nombres."

        msgid "The list has {0} columns. The limit is {1}."
        msgstr "La liste a {0} colonnes, et {1} au plus sont possibles."

        msgid "Choose fewer columns."
        msgstr "Choisissez moins de colonnes."

        # Packages/Server/AdminPanel/Lists/PanelResource.swift

        msgid "A resource has no id."
        msgstr "Une ressource n’a pas d’identifiant."

        # Packages/Server/AdminPanel/Lists/RowsPage+Saving.swift

        msgid "Nothing was changed."
        msgstr "Rien n’a été modifié."

        # Packages/Server/AdminPanel/Lists/RowsPage.swift

        msgid "None of these columns can be edited in the list. Choose others under Columns."
        msgstr "Aucune de ces colonnes n’est modifiable dans la liste. Choisissez-en d’autres sous Colonnes."

        msgid "{0} was saved."
        msgid_plural "{0} were saved."
        msgstr[0] "Enregistrement effectué : {0}."
        msgstr[1] "Enregistrement effectué : {0}."

        msgid "Edit {0}"
        msgstr "Modifier : {0}"

        # Packages/Server/AdminPanel/Lists/RowsTable+Form.swift

        msgid "The form doesn't say how many rows it has, or there are more than {0}."
        msgstr "Le formulaire n’indique pas combien de lignes il contient, ou il y en a plus de {0}."

        msgid "Load the page again."
        msgstr "Rechargez la page."

        # Packages/Server/AdminPanel/Lists/RowsTable+Refusals.swift

        msgid "It's no longer here: somebody deleted it or moved it elsewhere."
        msgstr "L’objet n’est plus ici : quelqu’un l’a supprimé, ou déplacé ailleurs."

        msgid "Saving again leaves this row out."
        msgstr "Un nouvel enregistrement ignorera cette ligne."

        msgid "Somebody has changed it in the meantime."
        msgstr "Quelqu’un l’a modifié entre-temps."

        msgid "Check the current value. Saving again overwrites it with yours."
        msgstr "Regardez son état actuel. Un nouvel enregistrement écrira ce que vous avez saisi."

        # Packages/Server/AdminPanel/Lists/RowsTable+Showing.swift

        msgid "{0} (required)"
        msgstr "{0} (obligatoire)"

        # Packages/Server/AdminPanel/Lists/RowsTable.swift

        msgid "New {0} {1}"
        msgstr "Nouvelle ligne {1} : {0}"

        # Packages/Server/AdminPanel/Lists/SavedViews.swift

        msgid "The view '{0}' is saved."
        msgstr "La vue « {0} » est enregistrée."

        msgid "The view '{0}' was deleted."
        msgstr "La vue « {0} » a été supprimée."

        msgid "Save it again"
        msgstr "L’enregistrer de nouveau"

        msgid "This view can't be saved: its address is too long or invalid."
        msgstr "Cette vue ne peut pas être enregistrée : son adresse est trop longue ou n’est pas valide."

        msgid "Remove some filters."
        msgstr "Retirez quelques filtres."

        msgid "You already have {0} views of this class."
        msgstr "Vous avez déjà {0} vues de cette classe."

        msgid "Delete one first."
        msgstr "Supprimez-en une d’abord."

        msgid "A view needs a name of at most {0} bytes."
        msgstr "Une vue doit avoir un nom d’au plus {0} octets."

        msgid "Go back and give it one."
        msgstr "Revenez en arrière et donnez-lui-en un."

        # Packages/Server/AdminPanel/Live/LivePages.swift

        msgid "Too many pages are being watched."
        msgstr "Trop de pages sont suivies."

        msgid "Close some of them."
        msgstr "Fermez-en quelques-unes."

        # Packages/Server/AdminPanel/Markdown/MarkdownPages.swift

        msgid "The form has no text."
        msgstr "Le formulaire ne contient pas de texte."

        msgid "Send it as '{0}'."
        msgstr "Envoyez-le dans « {0} »."

        msgid "Texts of more than {0} KiB are shown unformatted."
        msgstr "Les textes de plus de {0} Kio sont affichés sans mise en forme."

        msgid "Shorten the text to see it formatted."
        msgstr "Raccourcissez le texte pour le voir mis en forme."

        # Packages/Server/AdminPanel/Pages/HelpPages.swift

        msgid "Help"
        msgstr "Aide"

        # Packages/Server/AdminPanel/Pages/LoginPages.swift

        msgid "it only redirects browsers to the panel"
        msgstr "conduit seulement les navigateurs au panneau"

        msgid "the panel's style and script hold no data"
        msgstr "le style et le script du panneau ne contiennent pas de données"

        msgid "this is where sessions are created"
        msgstr "c’est ici que naissent les sessions"

        msgid "session"
        msgstr "session"

        msgid "Log in"
        msgstr "Se connecter"

        msgid "There is nothing at this address."
        msgstr "Il n’y a rien à cette adresse."

        # Packages/Server/AdminPanel/Pages/OverviewPages.swift

        msgid "Overview"
        msgstr "Vue d’ensemble"

        msgid "{0}: {1} in the trash will be deleted permanently within {2} days."
        msgstr "{0} : {1} dans la corbeille, suppression définitive d’ici {2} jours."

        msgid "The purge couldn't delete {0} of the groups in the trash: {1}"
        msgstr "La purge n’a pas pu supprimer {0} des groupes de la corbeille : {1}"

        msgid "The purge couldn't delete {0} of the groups in the trash."
        msgstr "La purge n’a pas pu supprimer {0} des groupes de la corbeille."

        msgid "A note on the rules: {0}"
        msgstr "Remarque sur les règles : {0}"

        msgid "The last purge ended early: {0}"
        msgstr "La dernière purge s’est arrêtée avant la fin : {0}"

        # Packages/Server/AdminPanel/Pages/PanelFailures.swift

        msgid "Not permitted"
        msgstr "Non autorisé"

        msgid "Not found"
        msgstr "Introuvable"

        msgid "Conflict"
        msgstr "Conflit"

        msgid "Too many attempts"
        msgstr "Trop de tentatives"

        msgid "The server has a problem"
        msgstr "Le serveur a un problème"

        msgid "That didn't work"
        msgstr "Cela n’a pas fonctionné"

        msgid "A role gets this from the box '{0}' of '{1}' in the permissions of {2}."
        msgstr "Un rôle obtient cela par la case « {0} » de « {1} » dans les permissions de {2}."

        msgid "You may no longer change this."
        msgstr "Vous ne pouvez plus modifier cela."

        msgid "It was removed, or you may no longer see it."
        msgstr "L’élément a été supprimé, ou vous ne pouvez plus le voir."

        msgid "Your session has ended. Log in again; what you sent wasn't saved."
        msgstr "Votre session est terminée. Reconnectez-vous ; votre envoi n’a pas été enregistré."

        msgid "Enter your password"
        msgstr "Saisissez votre mot de passe"

        # Packages/Server/AdminPanel/PanelEntry.swift

        msgid "Start"
        msgstr "Accueil"

        msgid "App"
        msgstr "Application"

        msgid "Work"
        msgstr "Travail"

        msgid "People"
        msgstr "Personnes"

        msgid "System"
        msgstr "Système"

        # Packages/Server/AdminPanel/PanelRequest.swift

        msgid "This isn't your password."
        msgstr "Ce n’est pas votre mot de passe."

        msgid "Enter your password again to continue."
        msgstr "Saisissez de nouveau votre mot de passe pour continuer."

        # Packages/Server/AdminPanel/PanelRoutes.swift

        msgid "Log in to see this page."
        msgstr "Cette page demande de se connecter."

        # Packages/Server/AdminPanel/Passwords/ForgottenPages.swift

        msgid "it only sends mail to the owner of an address"
        msgstr "envoie un e-mail au titulaire d’une adresse"

        msgid "it requires a mailed token"
        msgstr "exige un jeton envoyé par e-mail"

        msgid "Enter the e-mail address that you log in with."
        msgstr "Saisissez l’adresse e-mail avec laquelle vous vous connectez."

        msgid "Forgot your password?"
        msgstr "Mot de passe oublié ?"

        msgid "Set a new password"
        msgstr "Définir un nouveau mot de passe"

        msgid "Your password was changed"
        msgstr "Votre mot de passe a été modifié"

        msgid "This link is invalid, has expired or was already used."
        msgstr "Ce lien n’est pas valide, a expiré ou a déjà servi."

        # Packages/Server/AdminPanel/Passwords/PasswordPages.swift

        msgid "password"
        msgstr "mot de passe"

        msgid "Change your password"
        msgstr "Modifier votre mot de passe"

        msgid "Your password was changed. All your other logins were ended."
        msgstr "Votre mot de passe a été modifié. Toutes vos autres sessions ont été fermées."

        msgid "This isn't your current password."
        msgstr "Ce n’est pas votre mot de passe actuel."

        msgid "This is about your own account."
        msgstr "Il s’agit de votre propre compte."

        msgid "Stop viewing as {0} first."
        msgstr "Quittez d’abord l’affichage en tant que {0}."

        msgid "The two new passwords differ."
        msgstr "Les deux nouveaux mots de passe diffèrent."

        # Packages/Server/AdminPanel/People/InvitationPages.swift

        msgid "it requires an invitation's token"
        msgstr "exige le jeton d’une invitation"

        msgid "Accept an invitation"
        msgstr "Accepter une invitation"

        msgid "You now have the role {0}."
        msgstr "Vous avez maintenant le rôle {0}."

        msgid "You already had the role {0}."
        msgstr "Vous aviez déjà le rôle {0}."

        msgid "{0} invites you to be {1}."
        msgstr "{0} vous propose le rôle {1}."

        msgid "{0} invites you to be {1} of {2}."
        msgstr "{0} vous propose le rôle {1} dans « {2} »."

        msgid "You are invited"
        msgstr "Vous avez une invitation"

        msgid "Your account was created"
        msgstr "Votre compte a été créé"

        # Packages/Server/AdminPanel/People/PeoplePages.swift

        msgid "The invitation of {0} was revoked."
        msgstr "L’invitation pour {0} a été révoquée."

        msgid "The role {0} was handed over. The previous holder is now {1}."
        msgstr "Le rôle {0} a été transmis. L’ancien titulaire a maintenant le rôle {1}."

        msgid "{0} was invited by e-mail."
        msgstr "Invitation envoyée par e-mail à {0}."

        msgid "{0} is invited"
        msgstr "Invitation pour {0}"

        msgid "There is no such invitation."
        msgstr "Cette invitation n’existe pas."

        msgid "People lists the ones you may see."
        msgstr "La page Personnes liste celles que vous pouvez voir."

        # Packages/Server/AdminPanel/People/PeopleReader.swift

        msgid "Only the first {0} are shown."
        msgstr "Seules les {0} premières personnes sont affichées."

        msgid "Roles that apply everywhere"
        msgstr "Rôles valables partout"

        msgid "Roles in {0}"
        msgstr "Rôles dans {0}"

        msgid "everywhere"
        msgstr "partout"

        # Packages/Server/AdminPanel/People/RoleScope.swift

        msgid "No class with this name grants roles that you may see."
        msgstr "Aucune classe de ce nom n’attribue de rôles que vous pouvez voir."

        msgid "Choose among {0}."
        msgstr "Choisissez parmi : {0}."

        msgid "There is no object with this id in which roles can be granted."
        msgstr "Aucun objet portant cet identifiant n’a de rôles."

        # Packages/Server/AdminPanel/Permissions/BoxWish.swift

        msgid "{0} may now {1} {2}."
        msgstr "{0} peut maintenant {1} {2}."

        msgid "{0} may no longer {1} {2}."
        msgstr "{0} ne peut plus {1} {2}."

        msgid "{0} users now have the permission {1}."
        msgstr "Les utilisateurs du groupe {0} ont maintenant l’autorisation {1}."

        msgid "{0} users no longer have the permission {1}."
        msgstr "Les utilisateurs du groupe {0} n’ont plus l’autorisation {1}."

        msgid "The address doesn't name a box."
        msgstr "L’adresse n’indique pas de quelle case il s’agit."

        msgid "The matrix of {0} has no such box."
        msgstr "Cette case n’existe pas dans la matrice : {0}."

        # Packages/Server/AdminPanel/Permissions/ConditionWords.swift

        msgid "all"
        msgstr "tout"

        msgid "{0}, and {1}"
        msgstr "{0}, et {1}"

        msgid "{0}, or {1}"
        msgstr "{0}, ou {1}"

        msgid "not ({0})"
        msgstr "non ({0})"

        msgid "{0}: {1}"
        msgstr "{0} : {1}"

        msgid "{0}: not {1}"
        msgstr "{0} : pas {1}"

        msgid "{0}: less than {1}"
        msgstr "{0} : moins de {1}"

        msgid "{0}: at most {1}"
        msgstr "{0} : au plus {1}"

        msgid "{0}: more than {1}"
        msgstr "{0} : plus de {1}"

        msgid "{0}: at least {1}"
        msgstr "{0} : au moins {1}"

        msgid "It's {0}"
        msgstr "C’est {0}"

        msgid "It's not {0}"
        msgstr "Ce n’est pas {0}"

        msgid "It's less than {0}"
        msgstr "C’est moins de {0}"

        msgid "It's at most {0}"
        msgstr "C’est au plus {0}"

        msgid "It's more than {0}"
        msgstr "C’est plus de {0}"

        msgid "It's at least {0}"
        msgstr "C’est au moins {0}"

        msgid "{0}: contains '{1}'"
        msgstr "{0} : contient « {1} »"

        msgid "{0}: begins with '{1}'"
        msgstr "{0} : commence par « {1} »"

        msgid "{0}: ends with '{1}'"
        msgstr "{0} : se termine par « {1} »"

        msgid "one where they have the role {0}"
        msgstr "un objet où cette personne a le rôle {0}"

        msgid "this user"
        msgstr "cet utilisateur"

        msgid "empty"
        msgstr "vide"

        msgid "{0} or {1}"
        msgstr "{0} ou {1}"

        # Packages/Server/AdminPanel/Permissions/PermissionBoxContent.swift

        msgid "Give {0} users {1}?"
        msgstr "Accorder aux utilisateurs du groupe {0} l’autorisation {1} ?"

        msgid "Take {0} from {1} users?"
        msgstr "Retirer l’autorisation {0} aux utilisateurs du groupe {1} ?"

        msgid "All {0} users will have the permission {1}. What it allows is defined in the rules."
        msgstr "Tous les utilisateurs du groupe {0} auront l’autorisation {1}. Ce qu’elle permet est défini dans les règles."

        msgid "The permission {0} will be withdrawn from all {1} users. What they have created with it stays."
        msgstr "Plus aucun utilisateur du groupe {1} n’aura l’autorisation {0}. Ce qu’ils ont créé grâce à elle est conservé."

        msgid "Allow"
        msgstr "Autoriser"

        msgid "Withdraw"
        msgstr "Retirer"

        msgid "Let {0} {1} {2}?"
        msgstr "Autoriser {0} à {1} {2} ?"

        msgid "Stop {0} from creating {1}?"
        msgstr "Ne plus autoriser {0} à créer {1} ?"

        msgid "Stop {0} from reading {1}?"
        msgstr "Ne plus autoriser {0} à lire {1} ?"

        msgid "Stop {0} from updating {1}?"
        msgstr "Ne plus autoriser {0} à modifier {1} ?"

        msgid "Stop {0} from deleting {1}?"
        msgstr "Ne plus autoriser {0} à supprimer {1} ?"

        msgid "Everybody with the role {0} will be able to {1} {2}. What that gives access to is defined in the rules."
        msgstr "Toute personne ayant le rôle {0} pourra {1} {2}. Ce que cela ouvre est défini dans les règles."

        msgid "The role {0} will no longer allow anybody to {1} {2}."
        msgstr "Plus personne ne pourra {1} {2} grâce au rôle {0}."

        msgid "Everybody with the role {0} will be able to {1} objects of {2} where they have the role."
        msgstr "Toute personne ayant le rôle {0} pourra {1} des objets de classe {2} là où elle a ce rôle."

        msgid "The role {0} will no longer allow anybody to {1} objects of {2}."
        msgstr "Plus personne ne pourra {1} d’objets de classe {2} grâce au rôle {0}."

        msgid "Devices lose their copies of what they may no longer read."
        msgstr "Les appareils perdent leurs copies de ce qu’ils n’ont plus le droit de lire."

        # Packages/Server/AdminPanel/Permissions/PermissionPages.swift

        msgid "Routes by role"
        msgstr "Routes par rôle"

        msgid "Permissions"
        msgstr "Autorisations"

        msgid "The rules have changed since you opened the page."
        msgstr "Les règles ont changé depuis que vous avez ouvert la page."

        msgid "The box is already as you want it."
        msgstr "La case est déjà dans l’état voulu."

        msgid "Go back to the permissions, and choose the box there."
        msgstr "Revenez aux autorisations et choisissez la case à cet endroit."

        msgid "The rules would be invalid."
        msgstr "Les règles contiendraient des erreurs."

        msgid "The app no longer has a permission matrix."
        msgstr "L’application n’a plus de matrice d’autorisations."

        msgid "Somebody has changed the rules since you opened the page; nothing was stored."
        msgstr "Quelqu’un a modifié les règles depuis que vous avez ouvert la page ; rien n’a été enregistré."

        msgid "Check the permissions again. To make the change anyway, send it again: it's now for the newest rules."
        msgstr "Vérifiez de nouveau les autorisations. Si vous voulez toujours cette modification, renvoyez-la : elle porte maintenant sur les règles les plus récentes."

        # Packages/Server/AdminPanel/Permissions/PermissionsContent.swift

        msgid "{0}, version {1}, stored {2} by {3}."
        msgstr "{0}, version {1}, enregistrée le {2} par {3}."

        msgid "{0}, version {1}, stored {2}."
        msgstr "{0}, version {1}, enregistrée le {2}."

        msgid "{0}, version {1}."
        msgstr "{0}, version {1}."

        msgid "everywhere, added"
        msgstr "partout, ajouté"

        msgctxt "role"
        msgid "added"
        msgstr "ajouté"

        msgid "{0} users have the permission {1}"
        msgstr "Les utilisateurs du groupe {0} ont l’autorisation {1}"

        msgid "{0} users don't have the permission {1}"
        msgstr "Les utilisateurs du groupe {0} n’ont pas l’autorisation {1}"

        msgid "{0} may {1} {2}"
        msgstr "{0} peut {1} {2}"

        msgid "{0} may not {1} {2}"
        msgstr "{0} ne peut pas {1} {2}"

        msgid "{0} may {1} {2}, by the rules of the class"
        msgstr "{0} peut {1} {2}, selon les règles de la classe"

        msgid "{0} may not {1} {2}, by the rules of the class"
        msgstr "{0} ne peut pas {1} {2}, selon les règles de la classe"

        # Packages/Server/AdminPanel/Permissions/RoleContent.swift

        msgid "It applies within one object, such as an event."
        msgstr "Il s’applique au sein d’un objet, comme un événement."

        msgid "It applies everywhere."
        msgstr "Il s’applique partout."

        msgid "nobody"
        msgstr "personne"

        msgid "And {0} more."
        msgstr "Et {0} de plus."

        msgid "The app's rules also name this role elsewhere, so it can't be renamed or removed."
        msgstr "Les règles de l’application mentionnent ce rôle à d’autres endroits, il ne peut donc être ni renommé ni supprimé."

        msgid "It can't be removed while somebody has it. Delete the objects that grant it, or rename it."
        msgstr "Il ne peut pas être supprimé tant que quelqu’un l’a. Supprimez les objets qui l’attribuent, ou renommez-le."

        msgid "once"
        msgstr "une fois"

        msgid "{0} time"
        msgid_plural "{0} times"
        msgstr[0] "{0} fois"
        msgstr[1] "{0} fois"

        msgid "Nobody has it."
        msgstr "Personne ne l’a."

        msgid "{0} user has it"
        msgid_plural "{0} users have it"
        msgstr[0] "{0} utilisateur l’a"
        msgstr[1] "{0} utilisateurs l’ont"

        msgid "{0} object grants it"
        msgid_plural "{0} objects grant it"
        msgstr[0] "{0} objet l’attribue"
        msgstr[1] "{0} objets l’attribuent"

        msgid "{0}; {1}."
        msgstr "{0} ; {1}."

        msgid "May {0} {1}"
        msgstr "Peut {0} {1}"

        # Packages/Server/AdminPanel/Permissions/RolePages.swift

        msgid "The role {0} is now called {1}. Everybody who had it keeps it."
        msgstr "Le rôle {0} s’appelle maintenant {1}. Tous ceux qui l’avaient le gardent."

        msgid "The role {0} was removed."
        msgstr "Le rôle {0} a été supprimé."

        msgid "Role {0}"
        msgstr "Rôle {0}"

        msgid "Add a role"
        msgstr "Ajouter un rôle"

        msgid "The role {0} was added."
        msgstr "Le rôle {0} a été ajouté."

        msgid "There is no such role."
        msgstr "Ce rôle n’existe pas."

        msgid "Somebody may have renamed or removed it in the meantime."
        msgstr "Quelqu’un l’a peut-être renommé ou supprimé entre-temps."

        msgid "The form doesn't say which version of the rules it's for."
        msgstr "Le formulaire n’indique pas de quelles règles il s’agit."

        # Packages/Server/AdminPanel/Permissions/RoutesContent.swift

        msgid "anonymous"
        msgstr "anonyme"

        msgid "any user"
        msgstr "tout utilisateur"

        msgid "{0} of {1} routes"
        msgstr "{0} routes sur {1}"

        msgctxt "route"
        msgid "refused"
        msgstr "refusé"

        msgctxt "route"
        msgid "own only"
        msgstr "les siens"

        msgctxt "route"
        msgid "allowed"
        msgstr "autorisé"

        # Packages/Server/AdminPanel/Permissions/UserPermissionText.swift

        msgid "none, as one of the {0} users"
        msgstr "aucune, comme utilisateur du groupe {0}"

        msgid "{0}, as one of the {1} users"
        msgstr "{0}, comme utilisateur du groupe {1}"

        # Packages/Server/AdminPanel/Permissions/VerificationPages.swift

        msgid "The address is now marked as verified."
        msgstr "L’adresse est maintenant marquée comme vérifiée."

        msgid "The address is now marked as not verified."
        msgstr "L’adresse est maintenant marquée comme non vérifiée."

        msgid "There is no such account, or it has no e-mail address to verify."
        msgstr "Ce compte n’existe pas, ou n’a pas d’adresse e-mail à vérifier."

        # Packages/Server/AdminPanel/Permissions/ViewAsPages.swift

        msgid "View as"
        msgstr "Voir en tant que"

        msgid "No account that may log in has this address or id."
        msgstr "Aucun compte pouvant se connecter n’a cette adresse ni cet identifiant."

        msgid "A disabled account sees nothing."
        msgstr "Un compte désactivé ne voit rien."

        msgid "Choose a role, or enter a user's address or id."
        msgstr "Choisissez un rôle, ou saisissez l’adresse ou l’identifiant d’un utilisateur."

        msgid "No object in which roles can be granted is called '{0}'."
        msgstr "Aucun objet appelé « {0} » n’a de rôles."

        msgid "Several are called '{0}'."
        msgstr "Plusieurs s’appellent « {0} »."

        # Packages/Server/AdminPanel/Permissions/WhyBoxes.swift

        msgid "None of their roles has a box for {0}."
        msgstr "Aucun de ses rôles n’a de case pour {0}."

        msgid "None of their roles there has a box for {0}."
        msgstr "Aucun de ses rôles à cet endroit n’a de case pour {0}."

        msgid "The box is off: {0} may not {1} {2}."
        msgstr "La case est décochée : {0} ne peut pas {1} {2}."

        # Packages/Server/AdminPanel/Permissions/WhyContent.swift

        msgid "What {0} may do with {1} {2}"
        msgstr "Droits sur {1} {2} pour {0}"

        msgid "What {0} may do with objects of {1}"
        msgstr "Droits sur les objets de classe {1} pour {0}"

        msgid "{0} has no rules, so nobody may do anything with it."
        msgstr "{0} n’a pas de règles, personne n’a donc de droits ici."

        msgid "The role '{0}' ({1}) decides: it's the first in the rules that applies."
        msgstr "Le rôle « {0} » ({1}) décide : c’est le premier des règles qui s’applique."

        msgid "No role in the rules applies, so they may do nothing."
        msgstr "Aucun rôle des règles ne s’applique, tout est donc interdit."

        msgid "none: it depends on the user, not on the object"
        msgstr "aucun, quels qu’ils soient : cela dépend de la personne qui demande"

        msgid "those with"
        msgstr "ceux pour lesquels"

        msgid "applies"
        msgstr "s’applique"

        msgid "not reached"
        msgstr "non examiné"

        msgid "doesn't apply; it would need"
        msgstr "ne s’applique pas ; il faudrait"

        msgctxt "objects"
        msgid "some"
        msgstr "certains"

        # Packages/Server/AdminPanel/Permissions/WhyPages.swift

        msgid "Not logged in"
        msgstr "Personne non connectée"

        msgid "Check permissions"
        msgstr "Vérifier les autorisations"

        msgid "somebody with the role {0}"
        msgstr "une personne ayant le rôle {0}"

        msgid "There is no class {0}."
        msgstr "La classe {0} n’existe pas."

        msgid "{0} can't be explained."
        msgstr "{0} ne peut pas être expliqué."

        msgid "Somebody whose account is disabled may do nothing."
        msgstr "Une personne dont le compte est désactivé n’a aucun droit."

        msgid "The id isn't {0}."
        msgstr "L’identifiant n’est pas {0}."

        # Packages/Server/AdminPanel/Places/GeographicPoint.swift

        msgid "{0}° S"
        msgstr "{0}° S"

        msgid "{0}° N"
        msgstr "{0}° N"

        msgid "{0}° W"
        msgstr "{0}° O"

        msgid "{0}° E"
        msgstr "{0}° E"

        # Packages/Server/AdminPanel/Places/MapPages.swift

        msgid "There are no maps on this server."
        msgstr "Il n’y a pas de cartes sur ce serveur."

        msgid "Set {0} to turn them on."
        msgstr "{0} les active."

        # Packages/Server/AdminPanel/Places/MapPicture.swift

        msgid "Map of {0}"
        msgstr "Carte : {0}"

        msgid "Map of the world"
        msgstr "Carte du monde"

        msgid "Zoom in"
        msgstr "Zoom avant"

        msgid "Zoom out"
        msgstr "Zoom arrière"

        # Packages/Server/AdminPanel/Places/RecordPage+Places.swift

        msgid "Place"
        msgstr "Lieu"

        msgid "Place: {0}"
        msgstr "Lieu : {0}"

        # Packages/Server/AdminPanel/Records/BytesPages.swift

        msgid "There are no such bytes."
        msgstr "Ces octets n’existent pas."

        msgid "The record's page lists its fields."
        msgstr "La page de l’objet liste ses champs."

        msgid "There are no bytes."
        msgstr "Il n’y a pas d’octets."

        msgid "There's no thumbnail of these bytes."
        msgstr "Il n’y a pas de miniature de ces octets."

        # Packages/Server/AdminPanel/Records/ChildRows+Showing.swift

        msgctxt "several"
        msgid "New {0}"
        msgstr "À créer : {0}"

        # Packages/Server/AdminPanel/Records/ConflictPage+Rows.swift

        msgid "{0} '{1}': {2}"
        msgstr "{0} « {1} » : {2}"

        # Packages/Server/AdminPanel/Records/ConflictPage.swift

        msgid "Somebody changed {0} or its {1} in the meantime"
        msgstr "Quelqu’un a modifié entre-temps {0}, ou des éléments liés ({1})"

        msgid "Somebody changed {0} in the meantime"
        msgstr "Quelqu’un a modifié {0} entre-temps"

        # Packages/Server/AdminPanel/Records/EditPage+Controls.swift

        msgid "In UTC."
        msgstr "En UTC."

        msgid "In UTC, such as 2026-05-14T13:22:18Z."
        msgstr "En UTC, comme 2026-05-14T13:22:18Z."

        msgid "There are none of the chosen {0}."
        msgstr "Aucun choix pour la valeur choisie : {0}."

        msgid "Only those of the chosen {0}."
        msgstr "Limité à la valeur choisie : {0}."

        msgid "Nothing was found for '{0}' among those of the chosen {1}."
        msgstr "Aucun résultat pour « {0} » avec la valeur choisie : {1}."

        msgid "Nothing was found for '{0}'."
        msgstr "Aucun résultat pour « {0} »."

        # Packages/Server/AdminPanel/Records/EditPage+Notice.swift

        msgid "'{0}' is {1}"
        msgstr "« {0} » : {1}"

        msgid "'{0}' isn't what you entered"
        msgstr "« {0} » : différent de votre saisie"

        msgid "{0}: the database sets it itself."
        msgid_plural "{0}: the database sets them itself."
        msgstr[0] "{0}. La base de données fixe elle-même cette valeur."
        msgstr[1] "{0}. La base de données fixe elle-même ces valeurs."

        # Packages/Server/AdminPanel/Records/EditPage+Rebasing.swift

        msgid "{0} has become too long for a form, so your input there was discarded."
        msgstr "{0} est maintenant trop long pour un formulaire, votre saisie à cet endroit est donc perdue."

        msgid "Change it over JSON:API."
        msgstr "Modifiez cette valeur par JSON:API."

        msgid "Your choice wasn't kept."
        msgstr "Votre choix n’est pas conservé."

        msgid "Make it again."
        msgstr "Refaites-le."

        msgid "Somebody has changed it in the meantime. Current value: {0}."
        msgstr "Quelqu’un a modifié cette valeur entre-temps. Valeur actuelle : {0}."

        msgid "Saving again overwrites it with your value."
        msgstr "Un nouvel enregistrement écrira ce que vous avez saisi."

        # Packages/Server/AdminPanel/Records/EditPage+Repeating.swift

        msgid "Created only once, although the form was sent twice."
        msgstr "Créé une seule fois, bien que le formulaire ait été envoyé deux fois."

        # Packages/Server/AdminPanel/Records/EditPage+Saving.swift

        msgid "Saved."
        msgstr "Enregistré."

        msgid "Created."
        msgstr "Créé."

        msgid "Created, but you may not see it."
        msgstr "Créé, mais vous ne pouvez pas le voir."

        msgid "A form can have at most {0} values in lists."
        msgstr "Un formulaire a au plus {0} valeurs dans des listes."

        msgid "Save what you have, or write longer lists over JSON:API."
        msgstr "Enregistrez ce que vous avez, ou écrivez les listes plus longues par JSON:API."

        # Packages/Server/AdminPanel/Records/EditPage+SavingTogether.swift

        msgid "Saved, with {0}."
        msgstr "Enregistré, avec {0}."

        msgid "Created, with {0}."
        msgstr "Créé, avec {0}."

        # Packages/Server/AdminPanel/Records/EditPage+Showing.swift

        msgid "Save"
        msgstr "Enregistrer"

        msgid "New {0}"
        msgstr "Créer : {0}"

        # Packages/Server/AdminPanel/Records/EditPage+Together.swift

        msgid "Nothing links to {0} through '{1}'."
        msgstr "Aucun lien vers {0} par « {1} »."

        msgid "{0} can't be edited in one form with {1}: they have required fields that rows can't show."
        msgstr "Impossible de modifier dans un même formulaire : {0} et {1}. Les lignes n’y suffisent pas."

        msgid "Open the form of each."
        msgstr "Ouvrez le formulaire de chacun."

        msgid "The rows of {0} have unsaved changes."
        msgstr "Les lignes ont des modifications : {0}."

        msgid "Save them before you edit others."
        msgstr "Enregistrez-les avant d’en modifier d’autres."

        # Packages/Server/AdminPanel/Records/RecordPage.swift

        msgid "More than {0}"
        msgstr "Plus de {0}"

        # Packages/Server/AdminPanel/Records/RemovalPage.swift

        msgid "Move to trash?"
        msgstr "Mettre à la corbeille ?"

        msgid "Delete permanently?"
        msgstr "Supprimer définitivement ?"

        msgid "It can be restored at any time."
        msgstr "Une restauration est possible à tout moment."

        msgid "It can be restored for {0} day."
        msgid_plural "It can be restored for {0} days."
        msgstr[0] "Une restauration est possible pendant {0} jour."
        msgstr[1] "Une restauration est possible pendant {0} jours."

        msgid "Objects that you may not see"
        msgstr "Objets que vous ne pouvez pas voir"

        msgid "Somebody changed {0} in the meantime, so it wasn't removed."
        msgstr "Quelqu’un a modifié {0} entre-temps, la suppression n’a donc pas eu lieu."

        msgid "Check it again before you continue."
        msgstr "Regardez son état actuel avant de continuer."

        msgid "{0} was moved to the trash."
        msgstr "{0} : mise à la corbeille effectuée."

        msgctxt "record"
        msgid "{0} was deleted permanently."
        msgstr "{0} : suppression définitive effectuée."

        msgid "Restore"
        msgstr "Restaurer"

        msgid "{0} was restored."
        msgid_plural "{0} were restored."
        msgstr[0] "{0} a été restauré."
        msgstr[1] "{0} ont été restaurés."

        msgid "The form doesn't say what to restore."
        msgstr "Le formulaire n’indique pas ce qu’il faut restaurer."

        # Packages/Server/AdminPanel/Requests/RequestChart.swift

        msgid "{0}: {1} requests, {2} refused, {3} failed"
        msgstr "{0} : {1} requêtes, {2} refusées, {3} en échec"

        # Packages/Server/AdminPanel/Requests/RequestLine.swift

        msgid "no route"
        msgstr "aucune route"

        msgid "{0} ms"
        msgstr "{0} ms"

        # Packages/Server/AdminPanel/Requests/RequestPages.swift

        msgid "Requests"
        msgstr "Requêtes"

        # Packages/Server/AdminPanel/Requests/RequestWish.swift

        msgid "'after' must be the 'next' value of an earlier response."
        msgstr "« after » n’est pas ce qu’une réponse a donné dans « next »."

        msgid "'{0}' is longer than {1} bytes, or contains U+0000."
        msgstr "« {0} » dépasse {1} octets, ou contient un U+0000."

        msgid "Search for a shorter part of it."
        msgstr "Recherchez-en une partie plus courte."

        msgid "'range' must be latest, day or all, and only latest if requests aren't kept."
        msgstr "« range » doit valoir latest, day ou all, dans la mesure où le serveur conserve les requêtes."

        msgid "'show' must be all, slow, refused or failed."
        msgstr "« show » doit valoir all, slow, refused ou failed."

        # Packages/Server/AdminPanel/Requests/RequestsContent.swift

        msgid "In the last {0} minutes: {1} requests, {2} refused (4xx), {3} failed (5xx)."
        msgstr "Au cours des {0} dernières minutes : {1} requêtes, {2} refusées (4xx), {3} en échec (5xx)."

        msgid "Found: {0} requests, {1} refused (4xx), {2} failed (5xx)."
        msgstr "Trouvées : {0} requêtes, {1} refusées (4xx), {2} en échec (5xx)."

        msgctxt "requests"
        msgid "All"
        msgstr "Toutes"

        msgctxt "requests"
        msgid "Slow"
        msgstr "Lentes"

        msgctxt "requests"
        msgid "Refused"
        msgstr "Refusées"

        msgctxt "requests"
        msgid "Failed"
        msgstr "En échec"

        msgid "There is no chart: counting takes longer than {0} seconds."
        msgstr "Pas de graphique : le comptage dure plus de {0} secondes."

        msgid "{0} request to this server is missing from the log: the database was too slow."
        msgid_plural "{0} requests to this server are missing from the log: the database was too slow."
        msgstr[0] "{0} requête à ce serveur manque au journal : la base de données était trop lente."
        msgstr[1] "{0} requêtes à ce serveur manquent au journal : la base de données était trop lente."

        msgid "No requests match."
        msgstr "Aucune requête ne correspond."

        msgid "No requests yet."
        msgstr "Pas encore de requêtes."

        msgid "None since the server started, among those that are kept."
        msgstr "Aucune depuis le démarrage du serveur, parmi celles qui sont conservées."

        msgid "This server, latest"
        msgstr "Ce serveur, les dernières"

        msgid "All servers, last day"
        msgstr "Tous les serveurs, dernier jour"

        msgid "All servers, {0} day"
        msgid_plural "All servers, {0} days"
        msgstr[0] "Tous les serveurs, {0} jour"
        msgstr[1] "Tous les serveurs, {0} jours"

        # Packages/Server/AdminPanel/SQL/SQLContent.swift

        msgid "Line {0}, column {1}"
        msgstr "Ligne {0}, colonne {1}"

        msgid "There are more rows: only the first {0} are shown."
        msgstr "Il y a d’autres lignes : seules les {0} premières sont affichées."

        msgid "There are more rows than a page can show. Select fewer or shorter columns."
        msgstr "Il y a d’autres lignes : une page ne peut pas en afficher plus. Sélectionnez moins de colonnes, ou des colonnes plus courtes."

        msgid "{0} row in {1} ms"
        msgid_plural "{0} rows in {1} ms"
        msgstr[0] "{0} ligne en {1} ms"
        msgstr[1] "{0} lignes en {1} ms"

        # Packages/Server/AdminPanel/SQL/SQLPages.swift

        msgid "SQL"
        msgstr "SQL"

        msgid "SQL shows what the database user may read, not what {0} may see."
        msgstr "SQL affiche ce que l’utilisateur de la base de données peut lire, et non ce que peut voir : {0}."

        # Packages/Server/AdminPanel/Schedule/ScheduleContent.swift

        msgid "View its runs, or run it now"
        msgstr "Ses exécutions, lancement immédiat"

        msgid "The backups"
        msgstr "Les sauvegardes"

        msgid "Your jobs"
        msgstr "Vos tâches"

        msgid "The log"
        msgstr "Le journal"

        msgid "late"
        msgstr "en retard"

        msgctxt "job"
        msgid "runs"
        msgstr "en cours"

        msgid "failed"
        msgstr "échec"

        msgid "idle"
        msgstr "au repos"

        msgid "never ran"
        msgstr "jamais exécuté"

        msgid "done"
        msgstr "terminé"

        msgid "Purge of the trash"
        msgstr "Purge de la corbeille"

        msgid "One admin server permanently deletes what has been in the trash long enough."
        msgstr "Un serveur d’administration supprime définitivement ce qui est resté assez longtemps dans la corbeille."

        msgid "Admin servers copy changes into the audit log."
        msgstr "Les serveurs d’administration copient les modifications dans le journal d’audit."

        msgid "continuously"
        msgstr "en permanence"

        msgid "Audit log: old months"
        msgstr "Journal d’audit : anciens mois"

        msgid "Admin servers delete months that no longer need to be kept."
        msgstr "Les serveurs d’administration suppriment les mois qui n’ont plus besoin d’être conservés."

        msgid "Admin servers process long-running requests."
        msgstr "Les serveurs d’administration traitent les demandes qui prennent plus de temps."

        msgid "Jobs: old ones"
        msgstr "Tâches : les anciennes"

        msgid "Admin servers delete jobs that ended long ago."
        msgstr "Les serveurs d’administration suppriment les tâches terminées depuis longtemps."

        msgid "Requests: old ones"
        msgstr "Requêtes : les anciennes"

        msgid "One admin server deletes requests from the log that no longer need to be kept."
        msgstr "Un serveur d’administration supprime du journal les requêtes qu’il n’est plus nécessaire de conserver."

        msgid "every 10 minutes"
        msgstr "toutes les 10 minutes"

        msgid "Changelog: old changes"
        msgstr "Journal des changements : anciens changements"

        msgid "One gateway deletes changes that no device needs any more."
        msgstr "Une passerelle supprime les changements dont plus aucun appareil n’a besoin."

        msgid "One admin server makes a backup of the database, and deletes old automatic ones."
        msgstr "Un serveur d’administration sauvegarde la base de données et supprime les anciennes sauvegardes automatiques."

        msgid "within a minute"
        msgstr "en une minute au plus"

        # Packages/Server/AdminPanel/Schedule/SchedulePages.swift

        msgid "Scheduled jobs"
        msgstr "Tâches planifiées"

        msgid "The job begins in a moment."
        msgstr "La tâche va commencer dans un instant."

        # Packages/Server/AdminPanel/SecondFactor/CodePages.swift

        msgid "Enter the code"
        msgstr "Saisissez le code"

        # Packages/Server/AdminPanel/SecondFactor/PanelGate.swift

        msgid "Enter the code that your authenticator app shows."
        msgstr "Saisissez le code affiché par votre application d’authentification."

        msgid "Your account requires a second factor. Set it up first."
        msgstr "Votre compte exige un second facteur. Configurez-le d’abord."

        # Packages/Server/AdminPanel/SecondFactor/SecondFactorContent.swift

        msgid "{0} recovery code is left."
        msgid_plural "{0} recovery codes are left."
        msgstr[0] "Il reste {0} code de récupération."
        msgstr[1] "Il reste {0} codes de récupération."

        msgid "Set it up"
        msgstr "Le configurer"

        msgid "Set up another app"
        msgstr "Configurer une autre application"

        # Packages/Server/AdminPanel/SecondFactor/SecondFactorPages.swift

        msgid "second factor"
        msgstr "second facteur"

        msgid "Second factor"
        msgstr "Second facteur"

        msgid "From now on, you log in with your password alone."
        msgstr "Désormais, votre mot de passe seul suffit pour vous connecter."

        msgid "Set up a second factor"
        msgstr "Configurer un second facteur"

        msgid "Recovery codes"
        msgstr "Codes de récupération"

        msgid "The second factor was removed. Until they set up another one, they log in with the password alone."
        msgstr "Le second facteur a été supprimé. Le mot de passe seul suffit pour se connecter à ce compte, jusqu’à la configuration d’un autre second facteur."

        msgid "Your account requires a second factor."
        msgstr "Votre compte exige un second facteur."

        msgid "Set up another one to replace it."
        msgstr "Configurez-en un autre, qui remplacera celui-ci."

        msgid "Your account has no second factor."
        msgstr "Votre compte n’a pas de second facteur."

        msgid "You can't remove your own second factor here."
        msgstr "Vous ne pouvez pas supprimer votre propre second facteur ici."

        msgid "Use your own page: {0}."
        msgstr "Utilisez votre propre page : {0}."

        msgid "This account no longer has a second factor."
        msgstr "Ce compte n’a plus de second facteur."

        # Packages/Server/AdminPanel/Sessions/PanelCore+Identity.swift

        msgid "Log in first."
        msgstr "Connectez-vous d’abord."

        # Packages/Server/AdminPanel/Sessions/PanelForm+Files.swift

        msgid "The form is longer than {0} bytes."
        msgstr "Le formulaire dépasse {0} octets."

        msgid "Send less at once."
        msgstr "Envoyez-en moins à la fois."

        msgid "The form has more than {0} bytes of text."
        msgstr "Le formulaire contient plus de {0} octets de texte."

        msgid "Go back and shorten a text: a form sends both its original and its new version."
        msgstr "Revenez en arrière et raccourcissez un texte. Un formulaire envoie chacun tel qu’il était et tel qu’il est maintenant."

        msgid "The file has more than {0} MiB."
        msgstr "Le fichier dépasse {0} Mio."

        msgid "Go back, and choose a smaller one."
        msgstr "Revenez en arrière et choisissez-en un plus petit."

        msgid "The form has a field that isn't text."
        msgstr "Le formulaire a un champ qui n’est pas du texte."

        # Packages/Server/AdminPanel/Sessions/PanelForm.swift

        msgid "The body isn't a form."
        msgstr "Le corps de la requête n’est pas un formulaire."

        msgid "The form has more than {0} fields."
        msgstr "Le formulaire a plus de {0} champs."

        msgid "This form was loaded before you logged in or re-entered your password in another window. Nothing was changed."
        msgstr "Ce formulaire date d’avant votre connexion, ou d’avant la nouvelle saisie de votre mot de passe dans une autre fenêtre. Rien n’a été modifié."

        # Packages/Server/AdminPanel/Sessions/PanelViewing.swift

        msgid "the role {0}"
        msgstr "rôle {0}"

        msgid "the role {0} in {1}"
        msgstr "rôle {0} dans {1}"

        msgid "You are viewing the panel as {0}, so nothing was changed."
        msgstr "Vous voyez le panneau en tant que {0}, rien n’a donc été modifié."

        # Packages/Server/AdminPanel/Sessions/RequestOrigin.swift

        msgid "This form was sent from another site, and nothing was changed."
        msgstr "Ce formulaire a été envoyé depuis un autre site, et rien n’a été modifié."

        msgid "Open the panel yourself and send the form from there. Any proxy in front must pass on the Host header."
        msgstr "Ouvrez vous-même le panneau et envoyez le formulaire depuis là. Derrière un proxy, celui-ci doit transmettre l’en-tête Host."

        # Packages/Server/AdminPanel/Settings/SettingPages.swift

        msgid "Settings"
        msgstr "Paramètres"

        msgid "{0} has its default value again."
        msgstr "La valeur par défaut de {0} s’applique de nouveau."

        msgid "{0} was changed. All admin servers use it within a few seconds."
        msgstr "{0} a été modifié. Tous les serveurs d’administration l’appliquent en quelques secondes."

        msgid "{0} has reset this to the default in the meantime. Save again to overwrite it with your value."
        msgstr "Entre-temps, {0} a rétabli la valeur par défaut. Enregistrez de nouveau si votre valeur doit s’appliquer."

        msgid "{0} has changed this to {1} in the meantime. Save again to overwrite it with your value."
        msgstr "Entre-temps, {0} a modifié cela en {1}. Enregistrez de nouveau si votre valeur doit s’appliquer."

        msgid "There is no such setting."
        msgstr "Ce paramètre n’existe pas."

        msgid "The settings page lists the ones that can be changed."
        msgstr "La page des paramètres contient ceux qui peuvent être modifiés."

        msgid "This is set where the server is started, so the panel can't change it."
        msgstr "Ce paramètre est défini là où le serveur est lancé ; il ne peut pas être modifié ici."

        msgid "Remove the variable {0} there and restart the server."
        msgstr "Retirez-y la variable {0}, puis redémarrez le serveur."

        # Packages/Server/AdminPanel/Settings/SettingState.swift

        msgid "Set back to the default in the panel by {0}"
        msgstr "Valeur par défaut rétablie dans le panneau par {0}"

        msgid "Changed in the panel by {0}"
        msgstr "Modifié dans le panneau par {0}"

        # Packages/Server/AdminPanel/Settings/SettingsContent.swift

        msgid "{0}, on a free port"
        msgstr "{0}, sur un port libre"

        # Packages/Server/AdminPanel/Settings/SettingsPages.swift

        msgid "PostgreSQL {0}, as {1} in the database {2}"
        msgstr "PostgreSQL {0}, en tant que {1} dans la base de données {2}"

        msgid "The carrier accepted a test mail to {0}. If it doesn't arrive, check the carrier's log and your spam folder."
        msgstr "Le service d’envoi a accepté un e-mail de test pour {0}. S’il n’arrive pas, consultez le journal du service d’envoi et votre dossier de spam."

        # Packages/Server/AdminPanel/Settings/SettingsWarnings.swift

        msgid "This server doesn't send mail: {0} isn't set. Invitations aren't mailed, so people have to pass on the links themselves, and nobody can reset a forgotten password."
        msgstr "Ce serveur n’envoie pas d’e-mails : {0} n’est pas définie. Les invitations ne partent pas par e-mail, il faut donc en transmettre les liens soi-même, et personne ne peut réinitialiser un mot de passe oublié."

        msgid "Mails don't reach anybody: {0} stores them in a folder, which is meant for development."
        msgstr "Les e-mails n’atteignent personne : {0} les garde dans un dossier, ce qui est prévu pour le développement."

        msgid "Mails can't link to this server because {0} isn't set, so nobody can reset a forgotten password."
        msgstr "Les e-mails ne peuvent pas contenir de liens vers ce serveur : {0} n’est pas définie. Personne ne peut donc réinitialiser un mot de passe oublié."

        msgid "This page was loaded over HTTP, so the session cookie isn't secure, and anybody on the network can read it. Set {0} and {1}, or name a proxy that speaks HTTPS in {2}."
        msgstr "Cette page est arrivée par HTTP : le cookie de session n’est donc pas sécurisé, et n’importe qui sur le réseau peut le lire. Définissez {0} et {1}, ou indiquez dans {2} un proxy qui parle HTTPS."

        msgid "Leaked passwords are accepted, except for very common ones: {0} isn't set."
        msgstr "Les mots de passe connus par des fuites de données sont acceptés, sauf les plus courants : {0} n’est pas définie."

        # Packages/Server/AdminPanel/Translations/PanelLanguages.swift

        msgid "same as the browser"
        msgstr "comme le navigateur"

        # Packages/Server/AdminPanel/Trash/EmptyingContent.swift

        msgid "{0} There is more."
        msgstr "{0} Il en reste."

        msgid "{0} group"
        msgid_plural "{0} groups"
        msgstr[0] "{0} groupe"
        msgstr[1] "{0} groupes"

        msgid "{0} in {1} was deleted permanently."
        msgid_plural "{0} in {1} were deleted permanently."
        msgstr[0] "{0} dans {1} : suppression définitive effectuée."
        msgstr[1] "{0} dans {1} : suppression définitive effectuée."

        # Packages/Server/AdminPanel/Trash/EmptyingPages.swift

        msgid "Delete all of it permanently"
        msgstr "Tout supprimer définitivement"

        msgid "None of it can be deleted permanently yet: the app keeps it."
        msgstr "Rien de tout cela ne peut être supprimé définitivement pour l’instant : l’application le conserve."

        msgid "Empty the trash of {0}?"
        msgstr "Vider la corbeille : {0} ?"

        msgid "Empty the trash?"
        msgstr "Vider la corbeille ?"

        msgid "The trash was emptied"
        msgstr "La corbeille a été vidée"

        msgid "Emptying the trash"
        msgstr "Vidage de la corbeille"

        msgid "There is nothing in the trash that you may delete permanently."
        msgstr "Il n’y a rien dans la corbeille que vous puissiez supprimer définitivement."

        msgid "The form doesn't say where to continue."
        msgstr "Le formulaire n’indique pas où continuer."

        msgid "Start over."
        msgstr "Recommencez depuis le début."

        # Packages/Server/AdminPanel/Trash/PurgeContent.swift

        msgid "not yet"
        msgstr "pas encore"

        msgid "no limit"
        msgstr "sans limite"

        # Packages/Server/AdminPanel/Trash/PurgePages.swift

        msgid "Automatic purge"
        msgstr "Purge automatique"

        msgid "{0} What couldn't be deleted is listed below."
        msgstr "{0} Ce qui n’a pas pu être supprimé est listé ci-dessous."

        msgid "Another process is purging the trash."
        msgstr "Un autre processus est en train de purger la corbeille."

        msgid "The list of runs shows its run."
        msgstr "Son exécution figure dans la liste des exécutions."

        # Packages/Server/AdminPanel/Trash/RestoreForm.swift

        msgid "The form names an invalid object."
        msgstr "Le formulaire désigne un objet qui n’en est pas un."

        msgid "The form has an invalid choice."
        msgstr "Le formulaire contient un choix qui n’en est pas un."

        # Packages/Server/AdminPanel/Trash/TrashAccess.swift

        msgid "No class with this name has a trash that you may view."
        msgstr "Aucune classe de ce nom n’a de corbeille que vous puissiez consulter."

        # Packages/Server/AdminPanel/Trash/TrashConfirmContent.swift

        msgid "The app couldn't be asked about every object. Objects that it keeps stay in the trash."
        msgstr "L’application n’a pas pu être interrogée sur tout. Ce qu’elle conserve reste dans la corbeille."

        # Packages/Server/AdminPanel/Trash/TrashGroupContent.swift

        msgid "Restore all {0}"
        msgstr "Restaurer les {0} objets"

        msgid "A live {0} has the same {1}."
        msgstr "Un objet actif ({0}) a la même valeur pour : {1}."

        msgid "Restore it with another {0}"
        msgstr "Le restaurer avec une autre valeur pour : {0}"

        msgid "Leave it in the trash, and restore the rest"
        msgstr "Le laisser dans la corbeille et restaurer le reste"

        msgid "Move the live {0} into the trash instead"
        msgstr "Mettre plutôt à la corbeille l’objet actif ({0})"

        # Packages/Server/AdminPanel/Trash/TrashPages.swift

        msgid "Trash"
        msgstr "Corbeille"

        msgid "Delete permanently"
        msgstr "Supprimer définitivement"

        msgid "the {0} {1}"
        msgstr "{0} « {1} »"

        msgid "{0} was deleted permanently."
        msgid_plural "{0} were deleted permanently."
        msgstr[0] "{0} a été supprimé définitivement."
        msgstr[1] "{0} ont été supprimés définitivement."

        msgid "There is nothing in the trash at this address."
        msgstr "Il n’y a rien dans la corbeille à cette adresse."

        msgid "Somebody may have restored it or deleted it permanently. The trash lists what there is."
        msgstr "Quelqu’un l’a peut-être restauré ou supprimé définitivement. La corbeille liste ce qu’elle contient."

        # Packages/Server/AdminService/AdminAddress.swift

        msgid "{0} is '{1}': give the address of this server, without spaces, such as https://admin.example.org."
        msgstr "{0} vaut « {1} » : indiquez l’adresse de ce serveur, sans espaces, par exemple https://admin.example.org."

        # Packages/Server/AdminService/Audit/AuditFilter.swift

        msgid "The audit log can't be filtered by one of these parameters."
        msgstr "Le journal d’audit ne peut pas être filtré par l’un des paramètres."

        msgid "The filters are {0}."
        msgstr "Paramètres possibles : {0}."

        msgid "'{0}' occurs twice."
        msgstr "« {0} » apparaît deux fois."

        msgid "Give each parameter once."
        msgstr "Indiquez chaque paramètre une seule fois."

        msgid "'text' is empty."
        msgstr "« text » est vide."

        msgid "Leave it out to see all entries."
        msgstr "Omettez-le pour voir toutes les entrées."

        msgid "'limit' must be a number from 1 to {0}."
        msgstr "« limit » doit être un nombre de 1 à {0}."

        msgid "'{0}' isn't a date or time."
        msgstr "« {0} » n’est ni une date ni une heure."

        msgid "Write 2026-05-14 or 2026-05-14T13:22:18Z."
        msgstr "Écrivez 2026-05-14 ou 2026-05-14T13:22:18Z."

        msgid "There is no such {0}."
        msgstr "Valeur inconnue pour « {0} »."

        # Packages/Server/AdminService/Audit/AuditPutBack.swift

        msgid "The body doesn't say what to put back."
        msgstr "Le corps n’indique pas ce qu’il faut rétablir."

        msgid "There is no object with this id."
        msgstr "Aucun objet n’a cet identifiant."

        msgid "The object was deleted."
        msgstr "L’objet a été supprimé."

        msgid "Put back the entry that deleted it, or a version."
        msgstr "Rétablissez l’entrée de sa suppression, ou une version."

        msgid "The object is in the trash."
        msgstr "L’objet est dans la corbeille."

        msgid "Restore it from the trash first."
        msgstr "Restaurez-le d’abord depuis la corbeille."

        msgid "The object's history has no such entry."
        msgstr "L’historique de l’objet n’a pas cette entrée."

        msgid "The entry didn't change all of these properties."
        msgstr "L’entrée n’a pas modifié toutes ces propriétés."

        msgid "It changed {0}."
        msgstr "Elle a modifié : {0}."

        msgid "The entry has nothing to put back."
        msgstr "L’entrée n’a rien à rétablir."

        msgid "Use the trash's own routes to move objects into the trash and out of it."
        msgstr "Les routes propres à la corbeille servent à en sortir des objets et à les y mettre."

        msgid "'values' has an unknown property, or a value that doesn't fit its property."
        msgstr "« values » contient quelque chose qui n’est pas une propriété, ou pas une valeur de celle-ci."

        msgid "Start from the object's history."
        msgstr "Passez par l’historique de l’objet."

        # Packages/Server/AdminService/Audit/AuditQuery.swift

        msgid "The search took longer than {0} seconds."
        msgstr "La recherche dure plus de {0} secondes."

        msgid "Give a class, an object or a user, or a shorter period with 'from' and 'to'."
        msgstr "Indiquez une classe, un objet, un utilisateur, ou une période plus courte avec « from » et « to »."

        # Packages/Server/AdminService/Audit/AuditView.swift

        msgid "There is no such class."
        msgstr "Cette classe n’existe pas."

        msgid "Not permitted to see the audit log of {0}."
        msgstr "Non autorisé : vous ne pouvez pas voir le journal d’audit ({0})."

        # Packages/Server/AdminService/Backups/Backups+People.swift

        msgid "The folder for backups can't be used."
        msgstr "Le dossier des sauvegardes est inutilisable."

        msgid "There is no such backup."
        msgstr "Cette sauvegarde n’existe pas."

        msgid "It may have been deleted. The list shows the existing ones."
        msgstr "Elle a peut-être été supprimée. La liste contient celles qui existent."

        msgid "There are already {0} backups, so none was made."
        msgstr "Il y a déjà {0} sauvegardes, aucune autre n’a donc été faite."

        msgid "First delete some that you don't need."
        msgstr "Supprimez-en d’abord quelques-unes dont vous n’avez pas besoin."

        msgid "A backup is already being made."
        msgstr "Une sauvegarde est déjà en cours."

        msgid "It appears in the list when it's done."
        msgstr "Elle figurera dans la liste dès qu’elle sera terminée."

        msgid "Wait until it's done."
        msgstr "Attendez que ce soit terminé."

        msgid "{0} backups are already being downloaded."
        msgstr "{0} sauvegardes sont déjà en cours de téléchargement."

        msgid "Try again when one of the downloads has finished."
        msgstr "Réessayez quand l’un des téléchargements sera terminé."

        # Packages/Server/AdminService/Backups/ByteSize.swift

        msgid "{0} bytes"
        msgstr "{0} octets"

        # Packages/Server/AdminService/Inspector/GatewayInquiry.swift

        msgid "The request is too long."
        msgstr "La question est trop longue."

        msgid "Use shorter ids."
        msgstr "Posez-la avec des identifiants plus courts."

        msgid "Too many questions to the gateways are waiting for answers."
        msgstr "Trop de questions aux passerelles attendent leur réponse."

        msgid "Try again in a few seconds."
        msgstr "Réessayez dans quelques secondes."

        msgid "It gave no reason."
        msgstr "Elle n’a pas donné de raison."

        # Packages/Server/AdminService/Jobs/JobService.swift

        msgid "jobs that ended long ago were deleted"
        msgstr "tâches terminées depuis longtemps supprimées"

        # Packages/Server/AdminService/ModelChanges/DocumentEditError+Words.swift

        msgid "There is {0} problem."
        msgid_plural "There are {0} problems."
        msgstr[0] "Il y a {0} problème."
        msgstr[1] "Il y a {0} problèmes."

        msgid "The models or rules in the database have changed since this page was made."
        msgstr "Les modèles ou les règles dans la base de données ont changé depuis la création de cette page."

        msgid "The database user in {0} can't be used. {1}"
        msgstr "L’utilisateur de la base de données dans {0} ne peut pas être employé. {1}"

        msgid "The database in {0} can't be reached: {1}"
        msgstr "La base de données dans {0} est inaccessible : {1}"

        msgid "Nothing was done. Check what would happen now, then decide again."
        msgstr "Rien n’a été fait. Regardez ce qui se passerait maintenant, et décidez de nouveau."

        msgid "Try again in a moment."
        msgstr "Réessayez dans un instant."

        msgid "docs/database-roles.md explains how to create a user for it."
        msgstr "docs/database-roles.md explique comment créer un utilisateur pour cela."

        msgid "See the server's log and PostgreSQL's for details."
        msgstr "Les journaux du serveur et de PostgreSQL en disent plus."

        # Packages/Server/AdminService/ModelChanges/ModelChanges.swift

        msgid "Another model change is under way on this server."
        msgstr "Une autre modification d’un modèle est en cours sur ce serveur."

        # Packages/Server/AdminService/People/GrantClass.swift

        msgid "The request doesn't say which class grants the role."
        msgstr "Il manque la classe qui attribue le rôle."

        msgid "No app's rules have grants: see docs/rules.md."
        msgstr "Aucune application n’a de règles avec « grants » : voir docs/rules.md."

        msgid "There is no class '{0}' that grants roles."
        msgstr "Aucune classe « {0} » n’attribue de rôles."

        msgid "Classes that grant roles: {0}."
        msgstr "Classes qui en attribuent : {0}."

        msgid "an object"
        msgstr "un objet"

        msgid "Roles that {0} grants apply everywhere."
        msgstr "Les rôles attribués par {0} valent partout."

        msgid "Leave 'scope' out."
        msgstr "Omettez « scope »."

        msgid "'scope' isn't the key of {0}."
        msgstr "« scope » n’est pas une clé valable pour {0}."

        msgid "The server can't generate keys for {0}."
        msgstr "Le serveur ne peut pas créer de clés pour {0}."

        msgid "'role' isn't the name of a role."
        msgstr "« role » n’est pas le nom d’un rôle."

        msgid "Roles: {0}."
        msgstr "Rôles : {0}."

        msgid "There is no role '{0}'."
        msgstr "Le rôle « {0} » n’existe pas."

        msgid "The role '{0}' applies within {1}."
        msgstr "Le rôle « {0} » ne vaut que dans {1}."

        msgid "The role '{0}' applies everywhere."
        msgstr "Le rôle « {0} » vaut partout."

        msgid "The {0} that the role is for doesn't exist."
        msgstr "L’objet ({0}) auquel le rôle est rattaché n’existe pas."

        msgid "It may have been deleted."
        msgstr "Il a peut-être été supprimé."

        msgid "The {0} that the role is for is in the trash."
        msgstr "L’objet ({0}) auquel le rôle est rattaché est dans la corbeille."

        msgid "Try again when somebody has restored it."
        msgstr "Réessayez quand quelqu’un l’aura restauré."

        msgid "Choose what the role is for, or nothing for a role that applies everywhere."
        msgstr "Choisissez où vaut le rôle, ou rien pour un rôle qui vaut partout."

        msgid "Grant the role in an app or through /api, where the caller chooses the key."
        msgstr "Attribuez le rôle dans une application, ou par /api, où la clé se choisit."

        msgid "Choose which one."
        msgstr "Choisissez lequel."

        # Packages/Server/AdminService/People/InvitationDesk+Accepting.swift

        msgid "You are logged in with a different address than the invited one."
        msgstr "Votre session utilise une autre adresse que celle de l’invitation."

        msgid "Log in with that address, or create an account from the invitation's link."
        msgstr "Connectez-vous avec cette adresse, ou créez un compte depuis le lien de l’invitation."

        msgid "This invitation wasn't sent by e-mail, so it doesn't prove that the address is yours."
        msgstr "Cette invitation n’a pas été envoyée par e-mail, elle ne prouve donc pas que l’adresse est la vôtre."

        msgid "Log in with an account that has the address, then accept the invitation."
        msgstr "Connectez-vous avec un compte qui a cette adresse, puis acceptez l’invitation."

        msgid "This invitation isn't valid: its link is incomplete, or a newer invitation has replaced it."
        msgstr "Cette invitation n’est pas valide : son lien est incomplet, ou une invitation plus récente l’a remplacée."

        msgid "Use the link in the newest mail."
        msgstr "Utilisez le lien de l’e-mail le plus récent."

        msgid "The invitation has expired."
        msgstr "L’invitation a expiré."

        msgid "Ask for a new one."
        msgstr "Demandez-en une nouvelle."

        msgid "The role '{0}' no longer exists."
        msgstr "Le rôle « {0} » n’existe plus."

        msgid "Ask for a new invitation."
        msgstr "Demandez une nouvelle invitation."

        msgid "The person who invited you may no longer grant the role '{0}'."
        msgstr "L’auteur de l’invitation ne peut plus attribuer le rôle « {0} »."

        msgid "Ask somebody else for an invitation."
        msgstr "Demandez une invitation à quelqu’un d’autre."

        msgid "Somebody else has the role '{0}' here, and only one person can have it."
        msgstr "Une autre personne a ici le rôle « {0} », qu’une seule peut avoir."

        msgid "They can hand it over to you."
        msgstr "Elle peut vous le transmettre."

        msgid "Log in, then accept the invitation."
        msgstr "Connectez-vous, puis acceptez l’invitation."

        msgid "Somebody else got the role at the same time."
        msgstr "Une autre personne a obtenu le rôle au même moment."

        msgid "Check who has it now."
        msgstr "Vérifiez qui l’a maintenant."

        # Packages/Server/AdminService/People/InvitationDesk.swift

        msgid "This requires a user who is logged in."
        msgstr "Il faut un utilisateur connecté."

        msgid "The invitation has already been accepted."
        msgstr "L’invitation a déjà été acceptée."

        msgid "There is nothing to do."
        msgstr "Il n’y a rien à faire."

        msgid "The invitation was revoked."
        msgstr "L’invitation a été révoquée."

        msgid "Nothing grants this invitation's role any more."
        msgstr "Plus rien n’attribue le rôle de cette invitation."

        msgid "The app's rules have changed: ask for a new invitation."
        msgstr "Les règles de l’application ont changé : demandez une nouvelle invitation."

        msgid "It may have been withdrawn."
        msgstr "Elle a peut-être été retirée."

        # Packages/Server/AdminService/People/PeopleRoutes+Asking.swift

        msgid "roles"
        msgstr "des rôles"

        # Packages/Server/AdminService/People/PeopleRoutes+Invitations.swift

        msgid "anyone who is logged in and has a token for their address"
        msgstr "toute personne connectée, avec un jeton pour son adresse"

        # Packages/Server/AdminService/People/RoleTransfer.swift

        msgid "'scope' is missing."
        msgstr "« scope » manque."

        msgid "'to' isn't the id of a user."
        msgstr "« to » n’est pas l’identifiant d’un utilisateur."

        msgid "Somebody else gave the role to another user at the same time."
        msgstr "Quelqu’un d’autre a attribué le rôle à un autre utilisateur au même moment."

        msgid "Check who has it now before you go on."
        msgstr "Vérifiez qui l’a maintenant avant de continuer."

        msgid "The request doesn't say which role to hand over."
        msgstr "Il manque le rôle à transmettre."

        msgid "The rules have no role that can be handed over: add 'exclusive' to their grants, see docs/rules.md."
        msgstr "Les règles ne contiennent aucun rôle de ce genre : ajoutez « exclusive » à leurs « grants », voir docs/rules.md."

        msgid "The role '{0}' can't be handed over, only given and taken away."
        msgstr "Le rôle « {0} » ne se transmet pas ; il s’attribue et se retire."

        msgid "Roles that can be handed over: {0}."
        msgstr "Rôles qui se transmettent : {0}."

        msgid "Several users have the role '{0}' here."
        msgstr "Plusieurs utilisateurs ont ici le rôle « {0} »."

        msgid "Take it from all but one of them, then hand it over."
        msgstr "Retirez-le à tous sauf un, puis transmettez-le."

        msgid "The user already has the role '{0}'."
        msgstr "L’utilisateur a déjà le rôle « {0} »."

        msgid "There is no user with this id who can log in."
        msgstr "Aucun utilisateur pouvant se connecter n’a cet identifiant."

        msgid "Hand it over to somebody with an account, or invite them first."
        msgstr "Transmettez-le à une personne qui a un compte, ou invitez-la d’abord."

        # Packages/Server/AdminService/Permissions/AccountAuthority.swift

        msgid "Not permitted: you can't change whether your own address is verified."
        msgstr "Non autorisé : vous ne pouvez pas dire vous-même si votre adresse est vérifiée."

        msgid "Not permitted: they may see the permission matrix of {0}, but you may not."
        msgstr "Non autorisé : cette identité permet de voir la matrice d’autorisations ({0}), que vous ne pouvez pas voir."

        msgid "Not permitted: they may change the permission matrix of {0}, but you may not."
        msgstr "Non autorisé : cette identité permet de modifier la matrice d’autorisations ({0}), que vous ne pouvez pas modifier."

        msgid "Not permitted: they may {0} objects of {1} that you may not."
        msgstr "Non autorisé : cette identité permet, sur des objets de classe {1}, l’opération « {0} » qui ne vous est pas permise."

        msgid "Not permitted: they may read properties of {0} that you may not."
        msgstr "Non autorisé : cette identité permet de lire des propriétés de la classe {0} que vous ne pouvez pas lire."

        msgid "You can't change the account of somebody who may do more than you."
        msgstr "Vous ne pouvez pas modifier le compte de quelqu’un qui a plus de droits que vous."

        # Packages/Server/AdminService/Permissions/RouteAccess+Accounts.swift

        msgid "see accounts"
        msgstr "voir les comptes"

        msgid "Not permitted: no role lets you see accounts."
        msgstr "Non autorisé : aucun rôle ne vous permet de voir les comptes."

        msgid "change accounts"
        msgstr "modifier les comptes"

        msgid "Not permitted: no role lets you change accounts."
        msgstr "Non autorisé : aucun rôle ne vous permet de modifier les comptes."

        # Packages/Server/AdminService/Permissions/RouteAccess+AnyMatrix.swift

        msgid "the permission matrix of any app"
        msgstr "la matrice d’autorisations d’une application quelconque"

        msgid "Not permitted: no app's rules let you {0} its permission matrix."
        msgstr "Non autorisé : aucune application n’a de règles qui vous permettent l’opération « {0} » sur sa matrice d’autorisations."

        # Packages/Server/AdminService/Permissions/RouteAccess+EveryMatrix.swift

        msgid "the permission matrix of every app"
        msgstr "la matrice d’autorisations de chaque application"

        msgid "Not permitted: this page is for super administrators."
        msgstr "Non autorisé : cette page est réservée aux super-administrateurs."

        msgid "Super administrators may change the permission matrix of every app."
        msgstr "Ce sont les personnes autorisées à modifier la matrice d’autorisations de toutes les applications."

        # Packages/Server/AdminService/Permissions/RouteAccess+Inspecting.swift

        msgid "objects of any class"
        msgstr "des objets d’une classe quelconque"

        # Packages/Server/AdminService/Permissions/RouteAccess+Matrix.swift

        msgid "the permission matrix"
        msgstr "la matrice d’autorisations"

        msgid "No app's rules have a permission matrix."
        msgstr "Aucune application n’a de règles avec une matrice d’autorisations."

        msgid "Add a section 'matrix' to the rules: see docs/rules.md."
        msgstr "Ajoutez une section « matrix » aux règles : voir docs/rules.md."

        msgid "Several apps have a permission matrix."
        msgstr "Plusieurs applications ont une matrice d’autorisations."

        msgid "Name one with ?app=: {0}."
        msgstr "Indiquez-en une par ?app= : {0}."

        msgid "No app with this name has a permission matrix."
        msgstr "Aucune application de ce nom n’a de matrice d’autorisations."

        msgid "Apps with one: {0}."
        msgstr "Applications possibles : {0}."

        # Packages/Server/AdminService/Permissions/ViewAs.swift

        msgid "There is no account with this id that may log in."
        msgstr "Aucun compte pouvant se connecter n’a cet identifiant."

        msgid "The app '{0}' has no role '{1}' in its matrix."
        msgstr "L’application « {0} » n’a pas de rôle « {1} » dans sa matrice."

        msgid "Not permitted: they may see accounts, but you may not."
        msgstr "Non autorisé : cette identité permet de voir les comptes, que vous ne pouvez pas voir."

        msgid "Not permitted: no role lets you inspect what others see."
        msgstr "Non autorisé : aucun rôle ne vous permet d’inspecter ce que les autres voient."

        msgid "The rules permit it with operations: {inspect: true}; see docs/rules.md."
        msgstr "Les règles l’autorisent par operations: {inspect: true} ; voir docs/rules.md."

        msgid "You can't view as somebody who may see more than you."
        msgstr "Vous ne pouvez pas voir en tant que quelqu’un qui peut voir plus que vous."

        # Packages/Server/AdminService/Requests/KeptRequests+Reading.swift

        msgid "Choose the last day, a user, or the id of a request."
        msgstr "Choisissez le dernier jour, un utilisateur ou l’identifiant d’une requête."

        # Packages/Server/AdminService/Requests/RequestExpiryService.swift

        msgid "{0} request was deleted"
        msgid_plural "{0} requests were deleted"
        msgstr[0] "{0} requête supprimée"
        msgstr[1] "{0} requêtes supprimées"

        # Packages/Server/AdminService/Restores/Backups+RestoringPeople.swift

        msgid "There is no such database."
        msgstr "Cette base de données n’existe pas."

        msgid "It may have been deleted, or be in use again. The list shows the existing ones."
        msgstr "Elle a peut-être été supprimée, ou est de nouveau utilisée. La liste contient celles qui existent."

        # Packages/Server/AdminService/SQL/SQLPower.swift

        msgid "The database user in {0} is a superuser."
        msgstr "L’utilisateur de la base de données dans {0} est un superutilisateur."

        msgid "The database user in {0} bypasses row-level security (BYPASSRLS)."
        msgstr "L’utilisateur de la base de données dans {0} contourne la sécurité au niveau des lignes (BYPASSRLS)."

        msgid "The database user in {0} may replicate (REPLICATION)."
        msgstr "L’utilisateur de la base de données dans {0} peut répliquer (REPLICATION)."

        msgid "The database user in {0} may create roles (CREATEROLE)."
        msgstr "L’utilisateur de la base de données dans {0} peut créer des rôles (CREATEROLE)."

        msgid "The database user in {0} is a member of {1}."
        msgstr "L’utilisateur de la base de données dans {0} est membre du rôle {1}."

        msgid "The database user in {0} may read secrets in {1}."
        msgstr "L’utilisateur de la base de données dans {0} peut lire des secrets dans {1}."

        msgid "The database user in {0} may write to {1}."
        msgstr "L’utilisateur de la base de données dans {0} peut écrire dans {1}."

        # Packages/Server/AdminService/SQL/SQLProblem.swift

        msgid "There is no statement."
        msgstr "Il n’y a pas d’instruction."

        msgid "The statement is longer than {0} bytes."
        msgstr "L’instruction dépasse {0} octets."

        msgid "This server is already running as many statements as it allows at a time."
        msgstr "D’autres instructions sont en cours, et ce serveur n’en exécute pas plus à la fois."

        msgid "{0} Nothing was run."
        msgstr "{0} Rien n’a donc été exécuté."

        msgid "{0} points to a connection pooler in transaction mode, where statements could affect other sessions. Nothing was run."
        msgstr "{0} mène à un pooler de connexions en mode transaction, où des instructions pourraient en affecter d’autres. Rien n’a donc été exécuté."

        msgid "The database in {0} can't be reached. The server's log says why."
        msgstr "La base de données dans {0} est inaccessible. Le journal du serveur indique pourquoi."

        msgid "The result is too large: the database sent more than this page reads."
        msgstr "La réponse est trop grande : la base de données a envoyé plus que ce que cette page lit."

        msgid "The statement kept running after its time limit, so its connection was closed."
        msgstr "L’instruction a continué après son temps imparti, sa connexion a donc été fermée."

        msgid "Enter one."
        msgstr "Saisissez-en une."

        msgid "Shorten it."
        msgstr "Raccourcissez le contenu."

        msgid "Run it again in a few seconds."
        msgstr "Réexécutez-la dans quelques secondes."

        msgid "docs/database-roles.md explains how to create a user that may only read."
        msgstr "docs/database-roles.md explique comment créer un utilisateur qui ne peut que lire."

        msgid "Connect to PostgreSQL directly."
        msgstr "Connectez-vous directement à PostgreSQL."

        msgid "Select fewer columns, or the beginning of long ones, such as left(text, 100)."
        msgstr "Sélectionnez moins de colonnes, ou le début des colonnes longues, comme left(text, 100)."

        msgid "A statement may run for only a few seconds. Select less, or use psql."
        msgstr "Une instruction ne peut durer que quelques secondes. Sélectionnez moins, ou utilisez psql."

        # Packages/Server/AdminService/Schedule/Schedule+Asking.swift

        msgid "No server has ever run this job."
        msgstr "Aucun serveur n’a encore exécuté cette tâche."

        msgid "It runs by itself as soon as a server that runs it is started."
        msgstr "Elle s’exécutera d’elle-même dès qu’un serveur qui s’en charge sera démarré."

        msgid "This job is already running."
        msgstr "Cette tâche est déjà en cours."

        msgid "There is no job with this name that you can run."
        msgstr "Il n’y a pas de tâche de ce nom que vous puissiez lancer."

        # Packages/Server/AdminService/Schedule/Schedule.swift

        msgid "{0} objects in {1} groups were deleted permanently, {2} groups stayed"
        msgstr "objets supprimés définitivement : {0}, dans {1} groupes ; groupes conservés : {2}"

        msgid "{0} objects in {1} groups were deleted permanently"
        msgstr "objets supprimés définitivement : {0}, dans {1} groupes"

        msgid "{0} entries; earlier objects of {1} classes are missing"
        msgstr "{0} entrées ; il manque les objets antérieurs de {1} classes"

        msgid "{0} entries"
        msgstr "{0} entrées"

        msgid "{0} jobs are waiting, {1} are running"
        msgstr "tâches en attente : {0}, en cours : {1}"

        # Packages/Server/AdminService/Settings/ChangeableSetting.swift

        msgid "Enter a value, or use the default."
        msgstr "Saisissez une valeur, ou utilisez la valeur par défaut."

        msgid "Enter a value."
        msgstr "Saisissez une valeur."

        msgid "This is longer than {0} bytes."
        msgstr "Cela dépasse {0} octets."

        msgid "Leave out line breaks and other control characters."
        msgstr "Retirez les sauts de ligne et autres caractères de contrôle."

        msgid "Enter an address that begins with https://, without a user or password."
        msgstr "Saisissez une adresse qui commence par https://, sans utilisateur ni mot de passe."

        msgid "Enter an address that begins with https:// or http://, without a user or password."
        msgstr "Saisissez une adresse qui commence par https:// ou http://, sans utilisateur ni mot de passe."

        msgid "Enter a number of hours from 1 to {0}, or 0 for no automatic backups."
        msgstr "Saisissez un nombre d’heures de 1 à {0}, ou 0 pour aucune sauvegarde automatique."

        msgid "Enter a number of backups from 1 to {0}."
        msgstr "Saisissez un nombre de sauvegardes de 1 à {0}."

        # Packages/Server/AdminService/Settings/MapTiles.swift

        msgid "{0} is '{1}': {2}, such as {3}."
        msgstr "{0} vaut « {1} » : {2}, par exemple {3}."

        msgid "give the address of a map's tiles, without spaces"
        msgstr "indiquez l’adresse des tuiles d’une carte, sans espaces"

        msgid "check the host and the port of the address"
        msgstr "vérifiez l’hôte et le port de l’adresse"

        msgid "give an address with https; http is for localhost only"
        msgstr "indiquez une adresse en https, car http n’est permis que pour localhost"

        msgid "{0} is missing; give an address with {z}, {x} and {y}"
        msgstr "il manque {0}, indiquez une adresse avec {z}, {x} et {y}"

        msgid "leave out '#' and all braces other than those of {z}, {x} and {y}"
        msgstr "retirez « # » et les accolades autres que celles de {z}, {x} et {y}"

        # Packages/Server/AdminService/Trash+Members.swift

        msgid "There is nothing in the trash with this id."
        msgstr "Il n’y a rien dans la corbeille avec cet identifiant."

        msgid "The group has more than {0} objects."
        msgstr "Le groupe a plus de {0} objets."

        msgid "Somebody may have restored it, or deleted it permanently."
        msgstr "Quelqu’un l’a peut-être restauré ou supprimé définitivement."

        msgid "Choose the objects one by one."
        msgstr "Prenez-les un par un."

        # Packages/Server/AdminService/Trash+Panel.swift

        msgid "objects of a class with a trash"
        msgstr "des objets d’une classe dotée d’une corbeille"

        # Packages/Server/AdminService/Trash+Purging.swift

        msgid "Not permitted to delete all the objects permanently."
        msgstr "Non autorisé : vous ne pouvez pas tout supprimer définitivement."

        msgid "{0} {1} can't be deleted permanently: {2}."
        msgstr "Impossible de supprimer définitivement {0} {1} : {2}."

        msgid "Remove whatever prevents it, or delete the other objects of the group one by one."
        msgstr "Supprimez ce qui le retient, ou supprimez un par un les autres objets du groupe."

        msgid "'{0}' refers to it"
        msgstr "« {0} » y fait référence"

        msgid "another table refers to it"
        msgstr "une autre table y fait référence"

        msgid "it would break '{0}'"
        msgstr "cela enfreindrait « {0} »"

        msgid "the database says '{0}'"
        msgstr "la base de données indique « {0} »"

        # Packages/Server/AdminService/Trash+Restoring.swift

        msgid "Not permitted to restore all the objects."
        msgstr "Non autorisé : vous ne pouvez pas tout restaurer."

        msgid "{0} isn't one of the objects to restore."
        msgstr "{0} ne fait pas partie des objets à restaurer."

        msgid "Nothing is left to restore: all the objects would stay in the trash."
        msgstr "Tout doit rester dans la corbeille."

        msgid "A restore can only change unique properties of {0}."
        msgstr "Une restauration ne modifie que les propriétés uniques de la classe {0}."

        msgid "{0} has none."
        msgstr "{0} n’en a aucune."

        msgid "The new {0} of {1} doesn't fit the property's type."
        msgstr "La nouvelle valeur de « {0} » pour {1} n’est pas une valeur de la propriété."

        msgid "The new {0} of {1} is refused: {2}"
        msgstr "La nouvelle valeur de « {0} » pour {1} est refusée : {2}"

        msgid "Not permitted to give {0} {1} these values."
        msgstr "Non autorisé : vous ne pouvez pas donner ces valeurs à {0} {1}."

        msgid "Not permitted to move the live {0} into the trash instead."
        msgstr "Non autorisé : vous ne pouvez pas mettre plutôt à la corbeille l’objet actif ({0})."

        msgid "The {0} that this {1} belongs to is in the trash too."
        msgstr "L’objet ({0}) auquel appartient cet objet ({1}) est aussi dans la corbeille."

        msgid "Restore the {0} {1} first."
        msgstr "Restaurez d’abord {0} {1}."

        # Packages/Server/AdminService/Trash.swift

        msgid "More than {0} objects would go into the trash with this {1}."
        msgstr "Plus de {0} objets iraient à la corbeille avec cet objet ({1})."

        msgid "First move the objects that link to it into the trash, in parts."
        msgstr "Mettez d’abord à la corbeille ce qui a un lien vers lui, en plusieurs fois."

        # Packages/Server/AdminService/TrashAddress.swift

        msgid "The address contains neither an object's id nor a group's."
        msgstr "L’adresse ne contient ni l’identifiant d’un objet ni celui d’un groupe."

        msgid "Start from the list of the trash."
        msgstr "Passez par la liste de la corbeille."

        # Packages/Server/AdminService/TrashClash.swift

        msgid "A live {0} has the same {1}; nothing was restored."
        msgstr "Un objet actif ({0}) a la même valeur pour : {1} ; rien n’a été restauré."

        msgid "{0} more object clashes."
        msgid_plural "{0} more objects clash."
        msgstr[0] "{0} autre objet est en conflit."
        msgstr[1] "{0} autres objets sont en conflit."

        # Packages/Server/AdminService/TrashEmptying.swift

        msgid "{0} {1} of this group isn't included, or you may not delete it permanently."
        msgstr "{0} {1}, de ce groupe, n’est pas inclus, ou vous ne pouvez pas le supprimer définitivement."

        # Packages/Server/JSONAPI/Description/RequestExamples+Failing.swift

        msgid "Filter the {0} by a field they don't have"
        msgstr "Filtrer {0} par un champ qui n’existe pas"

        # Packages/Server/JSONAPI/Description/RequestExamples+Writing.swift

        msgid "Create one of the {0}"
        msgstr "Créer un objet ({0})"

        msgid "Update one of the {0}"
        msgstr "Modifier un objet ({0})"

        msgid "Move one of the {0} to the trash"
        msgstr "Mettre un objet à la corbeille ({0})"

        msgid "Delete one of the {0} permanently"
        msgstr "Supprimer définitivement un objet ({0})"

        msgid "Change what '{0}' links to"
        msgstr "Changer le lien « {0} »"

        msgid "Add to what '{0}' links to"
        msgstr "Ajouter des liens à « {0} »"

        msgid "Remove from what '{0}' links to"
        msgstr "Retirer des liens de « {0} »"

        # Packages/Server/JSONAPI/Description/RequestExamples.swift

        msgid "List {0}"
        msgstr "Lister {0}"

        msgid "Read one of the {0}"
        msgstr "Lire un objet ({0})"

        msgid "Read what '{0}' links to"
        msgstr "Lire les objets liés par « {0} »"

        msgid "Read which resources '{0}' links to"
        msgstr "Lire quelles ressources sont liées par « {0} »"

        msgid "Filter the {0}"
        msgstr "Filtrer {0}"

        msgid "Sort the {0}"
        msgstr "Trier {0}"

        msgid "Show only some fields of the {0}"
        msgstr "N’afficher que certains champs ({0})"

        msgid "List {0} with what they link to"
        msgstr "Lister {0} avec les objets liés"

        msgid "The second page of the {0}, with the total"
        msgstr "La deuxième page ({0}), avec le nombre total"

        msgid "The page of the {0} after a cursor"
        msgstr "La page qui suit un curseur ({0})"

        # Packages/Server/JSONAPI/Export/ExportPlaces.swift

        msgid "You have {0} exports under way; the limit is {1}."
        msgstr "Vous avez {0} exports en cours, et {1} au plus sont possibles."

        msgid "Try again when one of them has finished."
        msgstr "Réessayez quand l’un d’eux sera terminé."

        msgid "Your address has {0} exports under way; the limit is {1}."
        msgstr "Votre adresse a {0} exports en cours, et {1} au plus sont possibles."

        msgid "The server has {0} exports under way; the limit is {1}."
        msgstr "Le serveur a {0} exports en cours, et {1} au plus sont possibles."

        # Packages/Server/JSONAPI/Imports/CSVDecoder.swift

        msgid "The file ends inside this quoted cell."
        msgstr "Le fichier se termine à l’intérieur de cette cellule, qui est entre guillemets."

        msgid "Close the quotes, or send the whole file."
        msgstr "Fermez les guillemets, ou envoyez le fichier entier."

        msgid "There is a NUL byte, which text can't contain."
        msgstr "Il y a un octet NUL, qu’aucun texte ne contient."

        msgid "Save the file as 'CSV UTF-8', and import that. This may be another kind of file."
        msgstr "Enregistrez le fichier au format « CSV UTF-8 », puis importez-le. C’est peut-être un autre type de fichier."

        msgid "The cell continues after its closing quotes."
        msgstr "Il y a quelque chose après les guillemets fermants de la cellule."

        msgid "Double the quotes that belong to the text: \"say \"\"hello\"\"\"."
        msgstr "Doublez les guillemets qui font partie du texte : \"dire \"\"bonjour\"\"\"."

        msgid "The cell contains quotes but doesn't begin with quotes."
        msgstr "Il y a des guillemets dans une cellule qui ne commence pas par des guillemets."

        msgid "Put the whole cell in quotes, and double those that belong to the text."
        msgstr "Mettez toute la cellule entre guillemets, et doublez ceux qui font partie du texte."

        msgid "The cell has more than {0} bytes."
        msgstr "La cellule dépasse {0} octets."

        msgid "Shorten it. If it isn't that long, its quotes may not be closed."
        msgstr "Raccourcissez-la. Si elle n’est pas si longue, ses guillemets ne sont peut-être pas fermés."

        msgid "The row has more than {0} bytes."
        msgstr "La ligne dépasse {0} octets."

        msgid "Leave some columns out."
        msgstr "Omettez des colonnes."

        msgid "The row has more than {0} cells."
        msgstr "La ligne a plus de {0} cellules."

        msgid "The cell isn't UTF-8, unlike the text before it."
        msgstr "La cellule n’est pas en UTF-8, contrairement au texte qui précède."

        msgid "Save the whole file as 'CSV UTF-8', and import that."
        msgstr "Enregistrez tout le fichier au format « CSV UTF-8 », puis importez-le."

        # Packages/Server/JSONAPI/Imports/ImportDesk.swift

        msgid "The import has already been started or cancelled: it's {0}."
        msgstr "L’import a déjà été lancé ou annulé (état : {0})."

        msgid "Its page under Jobs shows its result."
        msgstr "Sa page, sous Tâches, indique ce qu’il en est advenu."

        msgid "The file's upload is incomplete."
        msgstr "Le fichier n’est pas arrivé en entier."

        msgid "Send it again."
        msgstr "Renvoyez-le."

        msgid "You have no import of {0} with this number."
        msgstr "Vous n’avez pas d’import portant ce numéro pour {0}."

        msgid "The Jobs page lists yours."
        msgstr "La page Tâches liste les vôtres."

        msgid "The file has {0} rows; the limit for all or nothing is {1}."
        msgstr "Le fichier a {0} lignes, et {1} au plus peuvent être importées en tout ou rien."

        msgid "Clear \"All or nothing\" to import in batches."
        msgstr "Décochez « Tout ou rien » : l’import se fera alors par lots."

        msgid "The import would no longer do what its preview showed."
        msgstr "L’import ferait autre chose que ce que montrait son aperçu."

        msgid "Nothing was changed. Ask for another preview, then decide again."
        msgstr "Rien n’a été modifié. Demandez un nouvel aperçu, puis décidez à nouveau."

        msgid "Every row is refused."
        msgstr "Toutes les lignes sont refusées."

        msgid "Correct the file and send it again, or change the mapping."
        msgstr "Corrigez le fichier et renvoyez-le, ou associez les colonnes autrement."

        # Packages/Server/JSONAPI/Imports/ImportEncoding.swift

        msgid "The file isn't UTF-8, so it was read as Windows-1252. Check names with accents or umlauts."
        msgstr "Le fichier n’est pas en UTF-8, il a donc été lu en Windows-1252. Vérifiez les noms avec des accents ou des trémas."

        # Packages/Server/JSONAPI/Imports/ImportFile.swift

        msgid "The file has more than {0} bytes as UTF-8."
        msgstr "Le fichier dépasse {0} octets en UTF-8."

        msgid "Import it in parts."
        msgstr "Importez-le en plusieurs parties."

        msgid "The file has no rows."
        msgstr "Le fichier n’a pas de lignes."

        msgid "Send a header and at least one row, or JSON objects."
        msgstr "Envoyez un en-tête et au moins une ligne, ou des objets JSON."

        msgid "The file has more than {0} rows."
        msgstr "Le fichier a plus de {0} lignes."

        msgid "The row has {0} cells, but the header has {1}."
        msgstr "La ligne a {0} cellules, et l’en-tête en a {1}."

        msgid "Put cells with separators or line breaks in quotes."
        msgstr "Mettez entre guillemets les cellules qui contiennent des séparateurs ou des sauts de ligne."

        msgid "The column has no name, or its name is longer than {0} bytes."
        msgstr "La colonne n’a pas de nom, ou un nom de plus de {0} octets."

        msgid "Name every column in the first row."
        msgstr "Donnez un nom à chaque colonne dans la première ligne."

        msgid "Another column is also called '{0}'."
        msgstr "Une autre colonne s’appelle aussi « {0} »."

        msgid "Give each column its own name."
        msgstr "Donnez à chaque colonne un nom distinct."

        msgid "The objects have too many different member names, or names that are too long."
        msgstr "Les objets ont trop de noms différents, ou des noms trop longs."

        msgid "The limit is {0} names of {1} bytes."
        msgstr "Au plus {0} noms de {1} octets sont possibles."

        # Packages/Server/JSONAPI/Imports/ImportFileError.swift

        msgid "Line {0}: {1}"
        msgstr "Ligne {0} : {1}"

        msgid "Line {0}, column {1}: {2}"
        msgstr "Ligne {0}, colonne {1} : {2}"

        # Packages/Server/JSONAPI/Imports/ImportMapping+Names.swift

        msgid "Titles are read-only: change '{0}' instead."
        msgstr "Les titres ne servent qu’à la lecture : modifiez plutôt « {0} »."

        msgid "No member was chosen for it."
        msgstr "Rien n’est choisi pour cette colonne."

        msgid "'{0}' is required."
        msgstr "« {0} » est obligatoire."

        msgid "Write a value into the cell."
        msgstr "Écrivez une valeur dans la cellule."

        msgid "Choose a column for it, or add one to the file."
        msgstr "Choisissez une colonne pour ce champ, ou ajoutez-en une au fichier."

        msgid "Column '{0}': {1}"
        msgstr "Colonne « {0} » : {1}"

        msgid "'{0}' is required, but no column maps to it."
        msgstr "« {0} » est obligatoire, et aucune colonne n’y est associée."

        # Packages/Server/JSONAPI/Imports/ImportMapping+Row.swift

        msgid "'{0}' isn't {1}."
        msgstr "« {0} » n’est pas {1}."

        msgid "a Boolean"
        msgstr "un booléen"

        msgid "Write true or false."
        msgstr "Écrivez true ou false."

        msgid "an integer of {0} bits"
        msgstr "un nombre entier de {0} bits"

        msgid "Write only digits, such as 1200."
        msgstr "N’écrivez que des chiffres, comme 1200."

        msgid "a number"
        msgstr "un nombre"

        msgid "Write one such as 12.5."
        msgstr "Écrivez par exemple 12.5."

        msgid "a decimal number"
        msgstr "un nombre décimal"

        msgid "Write one such as 12.50."
        msgstr "Écrivez par exemple 12.50."

        msgid "text without U+0000"
        msgstr "du texte sans U+0000"

        msgid "Leave that character out."
        msgstr "Omettez ce caractère."

        msgid "a date and time"
        msgstr "une date avec l’heure"

        msgid "Write one such as 2026-05-14T13:22:18Z, or a day such as 2026-05-14."
        msgstr "Écrivez par exemple 2026-05-14T13:22:18Z, ou un jour comme 2026-05-14."

        msgid "an id"
        msgstr "un identifiant"

        msgid "An id has 24 hexadecimal digits."
        msgstr "Un identifiant se compose de 24 chiffres hexadécimaux."

        msgid "a UUID"
        msgstr "un UUID"

        msgid "Write one such as 123e4567-e89b-12d3-a456-426614174000."
        msgstr "Écrivez par exemple 123e4567-e89b-12d3-a456-426614174000."

        msgid "base64"
        msgstr "du base64"

        msgid "Encode the bytes with the characters A-Z, a-z, 0-9, + and /, and with = at the end."
        msgstr "Écrivez les octets avec les caractères A-Z, a-z, 0-9, + et /, et = à la fin."

        msgid "a value of type {0}"
        msgstr "une valeur de type {0}"

        msgid "Leave the column out."
        msgstr "Omettez la colonne."

        msgid "The day {0} doesn't exist: that month has {1} days."
        msgstr "Le jour {0} n’existe pas : ce mois a {1} jours."

        msgid "Write a day from 01 to {0}."
        msgstr "Écrivez un jour de 01 à {0}."

        msgid "a JSON object"
        msgstr "un objet JSON"

        msgid "Write one such as {\"name\": \"value\"}."
        msgstr "Écrivez par exemple {\"name\": \"value\"}."

        msgid "the id of one of the {0}"
        msgstr "l’identifiant d’un objet ({0})"

        msgid "Several of the {0} are called '{1}'."
        msgstr "Plusieurs objets ({0}) s’appellent « {1} »."

        msgid "Write the id of the one you mean."
        msgstr "Écrivez l’identifiant de celui que vous voulez."

        msgid "'{0}' is neither the id nor the title of one of the {1}."
        msgstr "« {0} » n’est ni l’identifiant ni le titre d’un objet ({1})."

        msgid "Write {0}, or the exact title of one that you can see. {1}"
        msgstr "Écrivez {0}, ou le titre exact d’un objet que vous pouvez voir. {1}"

        msgid "a JSON array of at most {0} values"
        msgstr "une liste JSON d’au plus {0} valeurs"

        msgid "Write one such as [\"a\", \"b\"]."
        msgstr "Écrivez par exemple [\"a\", \"b\"]."

        # Packages/Server/JSONAPI/Imports/ImportMapping.swift

        msgid "Create new ones only"
        msgstr "Créer uniquement les nouveaux"

        msgid "Update existing ones only"
        msgstr "Mettre à jour uniquement les existants"

        msgid "Create new ones and update existing ones"
        msgstr "Créer les nouveaux et mettre à jour les existants"

        msgid "Two columns map to '{0}'."
        msgstr "Deux colonnes sont associées à « {0} »."

        msgid "Choose 'nothing' for one of them."
        msgstr "Choisissez « rien » pour l’une d’elles."

        msgid "No column maps to a member."
        msgstr "Aucune colonne n’est associée à un membre."

        msgid "Map at least one column to something other than 'id'."
        msgstr "Associez au moins une colonne à autre chose que « id »."

        msgid "A column maps to 'id', but rows are matched by {0}."
        msgstr "Une colonne est associée à « id », et les lignes sont rapprochées par {0}."

        msgid "Map it to nothing, or leave 'match' out."
        msgstr "Ne l’associez à rien, ou omettez « match »."

        msgid "Rows are matched by {0}, but no column maps to '{1}'."
        msgstr "Les lignes sont rapprochées par {0}, et aucune colonne n’est associée à « {1} »."

        msgid "Map a column to it, or match by something else."
        msgstr "Associez-lui une colonne, ou rapprochez les lignes autrement."

        msgid "An update needs ids."
        msgstr "Une mise à jour a besoin d’identifiants."

        msgid "Map a column to 'id', match by something else, or choose another mode."
        msgstr "Associez une colonne à « id », rapprochez les lignes autrement, ou choisissez un autre mode."

        msgid "{0} have no member '{1}'."
        msgstr "Il n’y a pas de membre « {1} » dans « {0} »."

        msgid "Columns map both to '{0}' as a whole and to its members."
        msgstr "Des colonnes sont associées à « {0} » en entier et à ses membres."

        msgid "Map one of the two to null."
        msgstr "Ignorez l’un des deux : null."

        # Packages/Server/JSONAPI/Imports/ImportPlanner.swift

        msgid "Choose to update existing ones, or leave the row out."
        msgstr "Choisissez de mettre à jour les existants, ou omettez la ligne."

        msgid "The row has no value for {0}, which rows are matched by."
        msgstr "La ligne n’indique rien pour {0}, qui sert à rapprocher les lignes."

        msgid "Write a value, or leave the row out."
        msgstr "Écrivez une valeur, ou omettez la ligne."

        msgid "{0} has the same {1}."
        msgstr "Même valeur de « {1} » que : {0}."

        msgid "Leave one of the two out."
        msgstr "Omettez l’une des deux lignes."

        msgid "{0} of the {1} have this {2}."
        msgstr "{0} objets ({1}) ont cette valeur de « {2} »."

        msgid "Change all but one of them, or match by id."
        msgstr "Modifiez-les tous sauf un, ou rapprochez les lignes par identifiant."

        msgid "There is already a resource with this {0}."
        msgstr "Une ressource a déjà cette valeur de « {0} »."

        msgid "The resource with this {0} is in the trash."
        msgstr "L’objet qui a cette valeur de « {0} » est dans la corbeille."

        msgid "Restore it first, or leave the row out."
        msgstr "Restaurez-le d’abord, ou omettez la ligne."

        msgid "None of the {0} that you can see has this {1}."
        msgstr "Vous ne pouvez voir aucun objet ({0}) qui a cette valeur de « {1} »."

        msgid "Correct the value, choose to create new ones, or leave the row out."
        msgstr "Corrigez la valeur, choisissez de créer les nouveaux, ou omettez la ligne."

        msgid "The row has no id."
        msgstr "La ligne n’a pas d’identifiant."

        msgid "Write the id of the resource to change, or leave the row out."
        msgstr "Écrivez l’identifiant de ce qu’elle modifie, ou omettez la ligne."

        msgid "Give it one: the server doesn't generate ids for {0}."
        msgstr "Donnez-lui-en un : le serveur ne crée pas d’identifiants pour {0}."

        msgid "{0} has the same id."
        msgstr "Même identifiant que : {0}."

        msgid "There is already a resource with this id."
        msgstr "Une ressource a déjà cet identifiant."

        # Packages/Server/JSONAPI/Imports/ImportTextDecoder.swift

        msgid "The file ends inside a UTF-16 character."
        msgstr "Le fichier se termine au milieu d’un caractère UTF-16."

        msgid "Send the whole file."
        msgstr "Envoyez le fichier entier."

        msgid "This is an Excel workbook, or another ZIP archive."
        msgstr "C’est un classeur Excel, ou une autre archive ZIP."

        msgid "This is an Excel workbook in an old format."
        msgstr "C’est un classeur Excel d’une ancienne version."

        msgid "Save it as 'CSV UTF-8' in Excel, and import that."
        msgstr "Enregistrez-le dans Excel au format « CSV UTF-8 », puis importez-le."

        msgid "There is half a character: a UTF-16 surrogate without its other half."
        msgstr "Il y a un demi-caractère : un substitut UTF-16 sans son autre moitié."

        msgid "The file is damaged. Save it as 'CSV UTF-8' in the program that wrote it, and import that."
        msgstr "Le fichier est endommagé. Enregistrez-le au format « CSV UTF-8 » dans le programme qui l’a écrit, puis importez-le."

        # Packages/Server/JSONAPI/Imports/ImportUpload.swift

        msgid "The file has more than {0} bytes."
        msgstr "Le fichier dépasse {0} octets."

        # Packages/Server/JSONAPI/Imports/ImportWorker.swift

        msgid "You no longer have permission to do this: {0}"
        msgstr "Vous ne pouvez plus faire cela : {0}"

        msgid "Somebody has since given the resource a different {0}."
        msgstr "Quelqu’un a modifié depuis la valeur de « {0} » de la ressource."

        msgid "Import the row again, and check what it matches now."
        msgstr "Importez de nouveau la ligne, et voyez à quoi elle correspond maintenant."

        msgid "The row can't be read."
        msgstr "La ligne ne peut pas être lue."

        # Packages/Server/JSONAPI/Imports/JSONRowsDecoder.swift

        msgid "Send an array of objects, or one object on each line."
        msgstr "Envoyez un tableau d’objets, ou un objet par ligne."

        msgid "There is something that isn't an object."
        msgstr "Il y a autre chose qu’un objet."

        msgid "The file ends inside the object that begins here."
        msgstr "Le fichier se termine à l’intérieur de l’objet qui commence ici."

        msgid "The file ends inside its array."
        msgstr "Le fichier se termine avant son tableau."

        msgid "There are two objects on one line."
        msgstr "Il y a deux objets sur une ligne."

        msgid "Begin a new line for each, or send an array."
        msgstr "Commencez une nouvelle ligne pour chacun, ou envoyez un tableau."

        msgid "The object has more than {0} bytes."
        msgstr "L’objet dépasse {0} octets."

        msgid "More than {0} objects and arrays are nested in each other."
        msgstr "Plus de {0} objets et listes sont imbriqués."

        msgid "Send flatter objects."
        msgstr "Envoyez des objets moins imbriqués."

        msgid "The object isn't valid JSON in UTF-8."
        msgstr "L’objet n’est pas du JSON valide en UTF-8."

        msgid "The object has more than {0} members."
        msgstr "L’objet a plus de {0} membres."

        msgid "Leave some out."
        msgstr "Omettez-en quelques-uns."

        # Packages/Server/JSONAPI/Imports/JobStore+Import.swift

        msgid "You have {0} imports that you haven't started; the limit is {1}."
        msgstr "Vous avez {0} imports que vous n’avez pas lancés, et {1} au plus sont possibles."

        msgid "Start or discard one: the Jobs page lists them."
        msgstr "Lancez-en ou abandonnez-en un : la page Tâches les liste."

        msgid "The import was discarded while its file was being uploaded."
        msgstr "L’importation a été abandonnée pendant l’envoi de son fichier."

        msgid "Import the file again."
        msgstr "Importez le fichier à nouveau."

        # Packages/Server/JSONAPI/JSONAPIRoutes+Export.swift

        msgid "unknown format."
        msgstr "ce format n’existe pas."

        msgid "Send one of {0}."
        msgstr "Envoyez l’un de : {0}."

        msgid "it must be 'guarded' or 'plain'."
        msgstr "ce n’est ni « guarded » ni « plain »."

        msgid "Leave it out for 'guarded'."
        msgstr "Omettez-le pour « guarded »."

        msgid "it must be 'true' or 'false'."
        msgstr "ce n’est ni « true » ni « false »."

        msgid "Leave it out for 'false'."
        msgstr "Omettez-le pour « false »."

        # Packages/Server/JSONAPI/JSONAPIRoutes+Operations.swift

        msgctxt "may …"
        msgid "change"
        msgstr "modifier"

        # Packages/Server/JSONAPI/JSONAPIRoutes.swift

        msgid "It may be in the trash, or you aren't permitted to see it."
        msgstr "L’élément est peut-être dans la corbeille, ou vous ne pouvez pas le voir."

        msgid "The id must be {0}."
        msgstr "Forme d’un identifiant : {0}."

        msgid "There is no resource of type '{0}' with this id."
        msgstr "Aucune ressource de type « {0} » n’a cet identifiant."

        msgid "An id is {0}."
        msgstr "Forme d’un identifiant : {0}."

        msgid "It may be in the trash, or you may not see it."
        msgstr "L’élément est peut-être dans la corbeille, ou vous ne pouvez pas le voir."

        # Packages/Server/JSONAPI/Jobs/BulkOrder.swift

        msgid "{0} of the {1} resources don't exist, or you can't see them."
        msgstr "{0} des {1} ressources n’existent pas, ou vous ne pouvez pas les voir."

        msgid "Leave them out. They may be restored by now."
        msgstr "Omettez-les. Elles ont peut-être été restaurées entre-temps."

        msgid "Leave them out. They may be in the trash by now."
        msgstr "Omettez-les. Elles ont peut-être été mises à la corbeille entre-temps."

        msgid "The resources that match aren't the ones that the dry run found."
        msgstr "Les ressources qui correspondent ne sont plus celles que l’essai avait trouvées."

        msgid "{0} resources match, but the dry run found {1}."
        msgstr "{0} ressources correspondent, et l’essai en avait trouvé {1}."

        msgid "Nothing was changed. Do another dry run before you go on."
        msgstr "Rien n’a été modifié. Refaites un essai avant de continuer."

        # Packages/Server/JSONAPI/Jobs/BulkSelection.swift

        msgid "More than {0} resources match, which is the most that a job can have."
        msgstr "Plus de {0} ressources correspondent, et une tâche ne peut pas en traiter plus."

        msgid "Narrow the selection with filters, and do it in parts."
        msgstr "Restreignez la sélection avec des filtres, et procédez en plusieurs fois."

        # Packages/Server/JSONAPI/Jobs/BulkWork.swift

        msgid "Nothing matches."
        msgstr "Rien ne correspond."

        msgid "Choose other filters."
        msgstr "Choisissez d’autres filtres."

        # Packages/Server/JSONAPI/Jobs/Job.swift

        msgctxt "state of a job"
        msgid "draft"
        msgstr "brouillon"

        msgctxt "state of a job"
        msgid "queued"
        msgstr "en attente"

        msgctxt "state of a job"
        msgid "running"
        msgstr "en cours"

        msgctxt "state of a job"
        msgid "done"
        msgstr "terminé"

        msgctxt "state of a job"
        msgid "failed"
        msgstr "échec"

        msgctxt "state of a job"
        msgid "cancelled"
        msgstr "annulé"

        # Packages/Server/JSONAPI/Jobs/JobRunner.swift

        msgid "One row was refused; nothing was changed."
        msgstr "Une ligne a été refusée ; rien n’a été modifié."

        msgid "{0} rows were refused; nothing was changed."
        msgstr "{0} lignes ont été refusées ; rien n’a été modifié."

        msgid "Somebody else had it locked for more than {0}."
        msgstr "Quelqu’un d’autre a bloqué l’objet pendant plus de {0}."

        msgid "Try again."
        msgstr "Recommencez."

        msgid "The account that started this job has been deleted or disabled."
        msgstr "Le compte qui a demandé cette tâche n’existe plus ou est désactivé."

        msgid "The class {0} no longer exists."
        msgstr "La classe {0} n’existe plus."

        # Packages/Server/JSONAPI/Jobs/JobStore.swift

        msgid "This server doesn't know this kind of job."
        msgstr "La tâche est d’un type que ce serveur ne connaît pas."

        msgid "Ask a server with a newer version."
        msgstr "Un autre serveur a une version plus récente ; adressez-vous à lui."

        msgid "You have {0} unfinished jobs; the limit is {1}."
        msgstr "Vous avez {0} tâches non terminées, et {1} au plus sont possibles."

        msgid "Wait until one is finished, or cancel one."
        msgstr "Attendez que l’une d’elles soit terminée, ou annulez-en une."

        # Packages/Server/JSONAPI/Jobs/JobWorker.swift

        msgid "There is nothing to change."
        msgstr "Il n’y a rien à modifier."

        msgid "Choose at least one field."
        msgstr "Choisissez au moins un champ."

        msgid "You can no longer see it."
        msgstr "Vous ne pouvez plus le voir."

        msgid "It already had these values."
        msgstr "C’était déjà le cas."

        msgid "It's no longer in the trash."
        msgstr "Il n’est plus dans la corbeille."

        msgid "Somebody has since restored or deleted it."
        msgstr "Quelqu’un l’a restauré ou supprimé depuis."

        msgid "It no longer exists, or you can no longer see it."
        msgstr "Il n’existe plus, ou vous ne pouvez plus le voir."

        msgid "It already has its old values."
        msgstr "Il est comme avant."

        msgid "Somebody has since changed {0}."
        msgstr "Quelqu’un a modifié {0} depuis."

        msgid "Left {0}, which somebody has since changed."
        msgstr "Laissé tel quel, car modifié depuis par quelqu’un : {0}."

        # Packages/Server/JSONAPI/Jobs/OwnJobs.swift

        msgid "The job has ended: it's {0}."
        msgstr "La tâche est déjà finie (état : {0})."

        msgid "Undo it on its page."
        msgstr "« Défaire », sur sa page, revient en arrière."

        msgid "The job is under way."
        msgstr "La tâche est en cours."

        msgid "End it on its page, then undo what it did."
        msgstr "Arrêtez-la sur sa page, puis défaites ce qu’elle a fait."

        msgid "Job {0} undoes this one."
        msgstr "La tâche {0} la défait."

        msgid "That job's page shows its progress."
        msgstr "La page de cette tâche indique son avancement."

        msgid "A job of kind '{0}' can't be undone."
        msgstr "Une tâche de type « {0} » ne peut pas être défaite."

        msgid "Start a new job instead."
        msgstr "Faites ce que vous voulez avec une nouvelle tâche."

        msgid "The job did nothing."
        msgstr "La tâche n’a rien fait."

        msgid "There is nothing to undo."
        msgstr "Il n’y a rien à défaire."

        # Packages/Server/JSONAPI/Jobs/ResourceMembers+Reading.swift

        msgid "'{0}' has more than {1} elements, so the change couldn't be undone."
        msgstr "« {0} » a plus de {1} éléments, qu’une annulation ne pourrait pas rétablir."

        msgid "Change it by itself, not together with others."
        msgstr "Modifiez-le seul, et non avec d’autres."

        # Packages/Server/JSONAPI/Query/FieldPath.swift

        msgid "Use a field with one value. Lists can't be filtered or sorted by."
        msgstr "Utilisez un champ à valeur unique. On ne peut ni chercher ni trier par une liste."

        # Packages/Server/JSONAPI/Query/RequestParameters.swift

        msgid "The query has {0} bytes; the limit is {1}."
        msgstr "La chaîne de requête a {0} octets, et {1} au plus sont possibles."

        msgid "Send fewer filters at once."
        msgstr "Envoyez moins de filtres à la fois."

        msgid "The query has {0} parameters; the limit is {1}."
        msgstr "La chaîne de requête a {0} paramètres, et {1} au plus sont possibles."

        msgid "Parameter '{0}': {1}"
        msgstr "Le paramètre « {0} » : {1}"

        msgid "it has {0} {1}; the limit is {2}."
        msgstr "il a {0} {1}, et {2} au plus sont possibles."

        msgid "Send several requests."
        msgstr "Envoyez plusieurs requêtes."

        msgid "The query has a parameter that isn't percent-encoded UTF-8: '{0}'."
        msgstr "La requête a un paramètre qui n’est pas de l’UTF-8 en encodage pourcent : « {0} »."

        msgid "Encode names and values as RFC 3986 says: é is %C3%A9, and % itself is %25."
        msgstr "Encodez les noms et les valeurs selon la RFC 3986 : é devient %C3%A9, et % lui-même %25."

        msgid "it's given twice."
        msgstr "il est donné deux fois."

        msgid "Send it once."
        msgstr "Envoyez-le une fois."

        msgid "its value has {0} bytes; the limit is {1}."
        msgstr "sa valeur a {0} octets, et {1} au plus sont possibles."

        msgid "Send a shorter value."
        msgstr "Envoyez une valeur plus courte."

        msgid "it contains the character U+0000."
        msgstr "il contient le caractère U+0000."

        # Packages/Server/JSONAPI/Query/ResourceFilter.swift

        msgid "'{0}' isn't an operator for '{1}'."
        msgstr "« {0} » n’est pas un opérateur pour « {1} »."

        msgctxt "it has …"
        msgid "values"
        msgstr "valeurs"

        msgid "the text has more than {0} bytes."
        msgstr "le texte a plus de {0} octets."

        msgid "Send a shorter text."
        msgstr "Envoyez un texte plus court."

        # Packages/Server/JSONAPI/Query/ResourcePage.swift

        msgid "a number from 1 to {0}"
        msgstr "un nombre de 1 à {0}"

        msgid "it isn't supported here."
        msgstr "il n’est pas connu ici."

        msgid "The page would skip {0} resources; the limit is {1}."
        msgstr "La page commence après {0} ressources, et on peut en sauter {1} au plus."

        msgid "Follow 'links.next' of a list without page[number]: cursors have no limit."
        msgstr "Suivez « links.next » d’une liste sans page[number] : les curseurs n’ont pas de limite."

        msgid "it can't be combined with page[number]."
        msgstr "il ne va pas avec page[number]."

        msgid "Send one of the two."
        msgstr "Envoyez l’un des deux."

        msgid "it isn't a cursor for a list in this order."
        msgstr "ce n’est pas un curseur d’une liste dans cet ordre."

        msgid "Take it from 'links.next', with the same 'sort'."
        msgstr "Prenez-le dans « links.next », avec le même « sort »."

        # Packages/Server/JSONAPI/Query/ResourceQuery.swift

        msgid "There are none."
        msgstr "Il n’y en a aucun."

        msgid "Expected one of: {0}."
        msgstr "Valeurs connues : {0}."

        msgid "the query has more than {0} filters."
        msgstr "la requête a plus de {0} filtres."

        msgid "Use 'in' for several values of one field."
        msgstr "Utilisez « in » pour plusieurs valeurs d’un champ."

        msgid "This address takes no parameters."
        msgstr "Cette adresse ne prend pas de paramètres."

        msgid "there is no type with this name."
        msgstr "aucun type ne porte ce nom."

        msgctxt "it has …"
        msgid "fields"
        msgstr "champs"

        msgid "'{0}' can't be sorted by."
        msgstr "« {0} » n’a pas d’ordre."

        msgid "Sort by an attribute with one value, or by id."
        msgstr "Triez par un attribut à valeur unique, ou par id."

        msgid "it has '{0}' twice."
        msgstr "il a « {0} » deux fois."

        msgid "Name it once."
        msgstr "Nommez-le une fois."

        msgctxt "it has …"
        msgid "paths"
        msgstr "chemins"

        msgid "'{0}' is {1} relationships deep; the limit is {2}."
        msgstr "« {0} » a une profondeur de {1} relations, et {2} au plus sont possibles."

        msgid "Ask for the rest in another request."
        msgstr "Demandez le reste dans une autre requête."

        # Packages/Server/JSONAPI/Reading/ResourceReader+Rows.swift

        msgid "{0} have no field '{1}' with one value."
        msgstr "{0} : il n’y a pas de champ « {1} » à valeur unique."

        # Packages/Server/JSONAPI/Reading/ResourceReader+ValueCounts.swift

        msgid "'{0}' has several values."
        msgstr "« {0} » a plusieurs valeurs."

        msgid "Count by a field with one."
        msgstr "Comptez par un champ qui n’en a qu’une."

        # Packages/Server/JSONAPI/Reading/ResourceReader.swift

        msgid "The answer would include more than {0} resources."
        msgstr "La réponse inclurait plus de {0} ressources."

        msgid "Ask for a smaller page with page[size], or for fewer relationships."
        msgstr "Demandez une page plus petite avec page[size], ou moins de relations."

        # Packages/Server/JSONAPI/Schema/ValueText.swift

        msgid "true or false"
        msgstr "un booléen (true ou false)"

        msgid "a whole number from {0} to {1}"
        msgstr "un nombre entier de {0} à {1}"

        msgid "a number such as {0}"
        msgstr "un nombre comme {0}"

        msgid "a decimal number such as {0}"
        msgstr "un nombre décimal comme {0}"

        msgid "a date and time such as {0}"
        msgstr "une date avec l’heure, comme {0}"

        msgid "an id of 24 hexadecimal digits"
        msgstr "un identifiant de 24 chiffres hexadécimaux"

        # Packages/Server/JSONAPI/Writing/ResourceChange+Fields.swift

        msgid "'{0}' can't be empty."
        msgstr "« {0} » ne peut pas être vide."

        msgid "Give it a value."
        msgstr "Donnez-lui une valeur."

        msgid "Send {0}."
        msgstr "Envoyez {0}."

        msgid "'{0}' isn't a list."
        msgstr "« {0} » n’est pas une liste."

        msgid "Send a list of values."
        msgstr "Envoyez une liste de valeurs."

        msgid "An element must have {0} values."
        msgstr "Un élément a {0} valeurs."

        msgid "Send a list of that length."
        msgstr "Envoyez une liste d’autant de valeurs."

        msgid "An element can't be null."
        msgstr "Un élément ne peut pas être null."

        msgid "Send a value that fits."
        msgstr "Envoyez une valeur qui convient."

        msgid "Two elements have the same 'id'."
        msgstr "Deux éléments ont le même « id »."

        msgid "Leave it out for a new element."
        msgstr "Omettez-le pour un nouvel élément."

        msgid "An element of '{0}'"
        msgstr "Un élément de « {0} »"

        msgid "'{0}' isn't a list of at most {1} elements."
        msgstr "« {0} » n’est pas une liste d’au plus {1} éléments."

        msgid "Send a list."
        msgstr "Envoyez une liste."

        msgid "{0} has no attribute '{1}'."
        msgstr "{0} n’a pas d’attribut « {1} »."

        msgid "{0} needs '{1}'."
        msgstr "{0} : « {1} » est nécessaire."

        msgid "Send it, or leave out everything that needs it."
        msgstr "Envoyez cette valeur, ou omettez entièrement ce qui en a besoin."

        msgid "The value isn't {0}."
        msgstr "Ce n’est pas {0}."

        msgid "Send {0}, without quotes."
        msgstr "Envoyez {0}, sans guillemets."

        msgid "Send {0}, as a JSON string."
        msgstr "Envoyez {0}, sous forme de chaîne JSON."

        # Packages/Server/JSONAPI/Writing/ResourceChange+Limits.swift

        msgid "A latitude can't be {0} degrees."
        msgstr "Une latitude de {0} degrés n’existe pas."

        msgid "A longitude can't be {0} degrees."
        msgstr "Une longitude de {0} degrés n’existe pas."

        msgid "Send a number from {0} to {1}."
        msgstr "Envoyez un nombre de {0} à {1}."

        msgid "{0} isn't an allowed value."
        msgstr "{0} ne fait pas partie des valeurs possibles."

        msgid "Send one of: {0}."
        msgstr "Envoyez l’une des valeurs : {0}."

        # Packages/Server/JSONAPI/Writing/ResourceChange+Relationships.swift

        msgid "The list has {0} elements; the limit is {1}."
        msgstr "La liste a {0} éléments, et {1} au plus sont possibles."

        msgid "Write longer lists through sync."
        msgstr "Écrivez les listes plus longues par synchronisation."

        msgid "'id' isn't {0}."
        msgstr "« id » n’est pas {0}."

        msgid "Send the id of one of the {0}, as a JSON string."
        msgstr "Envoyez l’identifiant d’un objet ({0}), sous forme de chaîne JSON."

        msgid "{0} have no relationship '{1}'."
        msgstr "{0} : il n’y a pas de relation « {1} »."

        # Packages/Server/JSONAPI/Writing/ResourceChange.swift

        msgid "{0} have no such property."
        msgstr "{0} : cette propriété n’existe pas."

        msgid "Leave it out."
        msgstr "Omettez cela."

        msgid "{0} have no attribute '{1}'."
        msgstr "{0} : il n’y a pas d’attribut « {1} »."

        msgid "It's a relationship: send it in 'relationships'."
        msgstr "C’est une relation : envoyez-la là."

        # Packages/Server/JSONAPI/Writing/ResourceObjects.swift

        msgid "A link points to a resource that doesn't exist."
        msgstr "Un lien mène à une ressource qui n’existe pas."

        msgid "Send the id of one that exists."
        msgstr "Envoyez l’identifiant d’une ressource existante."

        # Packages/Server/JSONAPI/Writing/ResourceWriter+Links.swift

        msgid "Send the id of one that exists, and isn't in the trash."
        msgstr "Envoyez l’identifiant d’une ressource existante, qui n’est pas dans la corbeille."

        # Packages/Server/JSONAPI/Writing/ResourceWriter+Refusals.swift

        msgid "Leave 'id' out, and the server generates one."
        msgstr "Omettez « id », et le serveur en crée un."

        msgid "Another of the {0} has the same value, which must be unique."
        msgstr "Un autre objet ({0}) a la même valeur, qui doit être unique."

        msgid "Another of the {0} has the same {1}."
        msgstr "Un autre objet ({0}) a la même valeur de « {1} »."

        msgid "Send another value, or change the other one first."
        msgstr "Envoyez une autre valeur, ou modifiez d’abord l’autre objet."

        msgid "A required value is missing."
        msgstr "Une valeur obligatoire manque."

        msgid "A link points to a resource that was just removed."
        msgstr "Un lien mène à une ressource qui vient d’être supprimée."

        msgid "The database doesn't accept the values: {0}."
        msgstr "La base de données n’accepte pas les valeurs : {0}."

        msgid "The database doesn't accept the values: they're out of range."
        msgstr "La base de données n’accepte pas les valeurs : elles sont hors limites."

        msgid "Send other values."
        msgstr "Envoyez d’autres valeurs."

        # Packages/Server/JSONAPI/Writing/ResourceWriter.swift

        msgid "Something else still needs this resource."
        msgstr "Autre chose a besoin de cette ressource."

        msgid "First remove what links to it."
        msgstr "Supprimez d’abord ce qui a un lien vers elle."

        msgid "Leave '{0}' as it is, or ask for a role that may change it."
        msgstr "Laissez « {0} » tel quel, ou demandez un rôle qui peut le modifier."

        # Packages/Server/HTTP/Accounts/Routes+APIKeys.swift

        msgid "API keys"
        msgstr "clés d’API"

        # Packages/Server/HTTP/Accounts/Routes+Account.swift

        msgid "account"
        msgstr "compte"

        # Packages/Server/HTTP/Accounts/Routes+Login.swift

        msgid "this is where access tokens come from"
        msgstr "c’est ici que naissent les jetons d’accès"

        msgid "it asks for a refresh token"
        msgstr "exige un jeton de renouvellement"

        # Packages/Server/HTTP/Accounts/Routes+Registration.swift

        msgid "this is where accounts come from"
        msgstr "c’est ici que naissent les comptes"

        # Packages/Server/HTTP/Accounts/Routes+Sessions.swift

        msgid "logins"
        msgstr "connexions"

        # Packages/Server/HTTP/Application/Routes+Health.swift

        msgid "says only that the process runs"
        msgstr "dit seulement que le processus tourne"

        msgid "says only whether the database answers"
        msgstr "dit seulement si la base de données répond"

        # Packages/Server/HTTP/Configuration/ServerConfiguration.swift

        msgid "{0} is '{1}': choose optional, everywhere or everybody."
        msgstr "{0} vaut « {1} » : choisissez optional, everywhere ou everybody."

        # Packages/Server/HTTP/Edge/EdgeMiddleware.swift

        msgid "{0} is not possible here."
        msgstr "{0} n’est pas possible ici."

        msgid "Use {0}."
        msgstr "Utilisez {0}."

        # Packages/Server/HTTP/Errors/RequestFailure+Errors.swift

        msgid "The server is busy."
        msgstr "Le serveur est occupé."

        msgid "The request's body is incomplete or isn't valid HTTP."
        msgstr "Le corps de la requête est interrompu, ou n’est pas du HTTP."

        msgid "The server could not carry out the request."
        msgstr "Le serveur n’a pas pu traiter la requête."

        msgid "The server's log has the details under this request's id."
        msgstr "Le journal du serveur contient les détails sous l’identifiant de cette requête."

        msgid "Another object already has a value that must be unique."
        msgstr "Un autre objet a déjà une valeur qui doit être unique."

        msgid "Another object already has the same {0}."
        msgstr "Un autre objet a déjà la même valeur de « {0} »."

        msgid "Change it on one of the two, then try again."
        msgstr "Modifiez-la sur l’un des deux, puis réessayez."

        msgid "Change {0} on one of the two, then try again."
        msgstr "Modifiez « {0} » sur l’un des deux, puis réessayez."

        msgid "The answer would be too large."
        msgstr "La réponse aurait trop d’octets."

        msgid "A function in the database uses a table or a column that no longer exists."
        msgstr "Une fonction de la base utilise une table ou une colonne qui n’existe plus."

        msgid "It may have been renamed. The server's log has the function under this request's id: change the function, or give the table or the column its old name back."
        msgstr "Elle a peut-être été renommée. Le journal du serveur indique la fonction sous l’identifiant de cette requête : modifiez-la, ou rendez à la table ou à la colonne son ancien nom."

        msgid "The server's model is changing."
        msgstr "Le modèle du serveur est en cours de changement."

        msgid "The database does not answer at the moment."
        msgstr "La base de données ne répond pas en ce moment."

        msgid "The database refused the change: it would break the rule '{0}'."
        msgstr "La base de données a refusé : cela enfreindrait la règle « {0} »."

        msgid "The database refused a value."
        msgstr "La base de données a refusé une valeur."

        msgid "Try the same request again in a moment."
        msgstr "Réessayez la même requête dans un instant."

        msgid "The server has more requests of this kind than it can hold."
        msgstr "Le serveur a plus de requêtes de ce type qu’il ne peut en traiter."

        msgid "The request's body is too long."
        msgstr "Le corps de la requête est trop long."

        msgid "Choose fewer columns, or filter the list."
        msgstr "Choisissez moins de colonnes, ou filtrez la liste."

        msgid "The request is malformed."
        msgstr "La requête est mal formée."

        # Packages/Server/HTTP/Routes/EdgeContext+Parameters.swift

        msgid "The address contains something that isn't an id."
        msgstr "L’adresse contient quelque chose qui n’est pas un identifiant."

        # Packages/Server/HTTP/Routes/Operation+Words.swift

        msgctxt "may …"
        msgid "delete"
        msgstr "supprimer"

        msgctxt "may …"
        msgid "trash"
        msgstr "mettre à la corbeille"

        msgctxt "may …"
        msgid "listTrash"
        msgstr "consulter dans la corbeille"

        msgctxt "may …"
        msgid "restore"
        msgstr "restaurer"

        msgctxt "may …"
        msgid "inspect"
        msgstr "inspecter"

        msgctxt "may …"
        msgid "purge"
        msgstr "purger"

        msgctxt "may …"
        msgid "transfer"
        msgstr "transmettre"

        msgctxt "may …"
        msgid "audit"
        msgstr "consulter dans le journal d’audit"

        msgctxt "permission"
        msgid "{0} {1}"
        msgstr "{0} {1}"

        # Packages/Server/HTTP/Routes/RouteAccess+Class.swift

        msgid "Not permitted."
        msgstr "Non autorisé."

        msgid "Not permitted: no role lets you {0} {1}."
        msgstr "Non autorisé : aucun rôle ne vous permet l’opération « {0} » ({1})."

        # Packages/Server/HTTP/Routes/RouteAccess+Roles.swift

        msgctxt "permission"
        msgid "{0} {1} in {2}"
        msgstr "{0} {1} dans {2}"

        msgid "permission to {0}"
        msgstr "l’autorisation « {0} »"

        msgid "Not permitted: this requires {0}."
        msgstr "Non autorisé, condition requise : {0}."

        # Packages/Server/HTTP/Routes/RouteAccess+User.swift

        msgid "own {0}"
        msgstr "pour soi-même : {0}"

        # Packages/Server/HTTP/Routes/RouteAccess.swift

        msgid "everybody: {0}"
        msgstr "tout le monde : {0}"

        msgid "Not permitted: you may not view the trash."
        msgstr "Non autorisé : vous ne pouvez pas consulter la corbeille."

        msgid "There is no {0} with this id."
        msgstr "Aucun objet ({0}) n’a cet identifiant."

        # Packages/Server/HTTP/Routes/RouteScope.swift

        msgid "the {0}"
        msgstr "{0}"

        msgid "the {0} of the {1}"
        msgstr "{0} de {1}"

        # Packages/Server/HTTP/Routes/Timeout.swift

        msgid "The request took longer than {0} and was cancelled."
        msgstr "La requête a duré plus de {0} et a été abandonnée."

        msgid "Try it again, or ask for less at once."
        msgstr "Réessayez, en demandant moins à la fois."

        # Packages/Server/HTTP/Rows/TrashReason+Request.swift

        msgid "The reason is longer than {0} bytes."
        msgstr "Le motif dépasse {0} octets."

        msgid "Say it in fewer words."
        msgstr "Formulez-le plus brièvement."

        msgid "The reason has control characters."
        msgstr "Le motif contient des caractères de contrôle."

        msgid "Send plain text."
        msgstr "Envoyez du texte brut."

        # Packages/Server/Authentication/Accounts/AccountRegistry.swift

        msgid "write it as name@example.org."
        msgstr "écrivez-la sous la forme nom@example.org."

        msgid "it is longer than {0} bytes."
        msgstr "la longueur dépasse {0} octets."

        msgid "it contains a space or a control character."
        msgstr "elle contient un espace, ou un caractère qui en contrôle d’autres."

        msgid "it contains one of {0}, which have a special meaning in mails."
        msgstr "elle contient l’un des caractères {0}, que les e-mails interprètent autrement."

        msgid "it needs at least {0} characters."
        msgstr "il faut au moins {0} caractères."

        msgid "it appeared in a data leak: choose another."
        msgstr "il figure dans une fuite de données : choisissez-en un autre."

        msgid "it is empty."
        msgstr "il est vide."

        # Packages/Server/Authentication/AuthenticationError.swift

        msgid "E-mail or password is wrong."
        msgstr "L’adresse e-mail ou le mot de passe est incorrect."

        msgid "Too many people are logging in at the moment: try again in a few seconds."
        msgstr "Trop de personnes se connectent en ce moment : réessayez dans quelques secondes."

        msgid "The login has ended: log in again."
        msgstr "La session est terminée : reconnectez-vous."

        msgid "There is no such login, or it has ended."
        msgstr "Cette session n’existe pas, ou est terminée."

        msgid "The access token's account no longer exists."
        msgstr "Le compte du jeton d’accès n’existe plus."

        msgid "This e-mail address cannot be used: {0}"
        msgstr "Cette adresse e-mail ne peut pas être utilisée : {0}"

        msgid "This password cannot be used: {0}"
        msgstr "Ce mot de passe ne peut pas être utilisé : {0}"

        msgid "This name cannot be used: {0}"
        msgstr "Ce nom ne peut pas être utilisé : {0}"

        msgid "This custom data cannot be used: {0}"
        msgstr "Ces données personnalisées ne peuvent pas être utilisées : {0}"

        msgid "There is already an account with this e-mail address: log in, or use another address."
        msgstr "Un compte existe déjà avec cette adresse e-mail : connectez-vous, ou utilisez une autre adresse."

        msgid "This way to log in or register isn't offered here."
        msgstr "Cette façon de se connecter, ou de s’inscrire, n’est pas proposée ici."

        msgid "This code is wrong or was already used: wait for the next one."
        msgstr "Ce code n’est pas correct, ou a déjà servi : attendez le suivant."

        msgid "This requires a login with a second factor."
        msgstr "Il faut une session ouverte avec un second facteur."

        msgid "This account has a second factor, and this requires a code from it."
        msgstr "Ce compte a un second facteur, et il faut ici l’un de ses codes."

        msgid "The app's codes can't be checked any more, because the servers' secret was replaced. Use a recovery code and set the app up again, or have somebody remove the second factor."
        msgstr "Les codes de l’application ne peuvent plus être vérifiés, car le secret des serveurs a été remplacé. Utilisez un code de récupération et configurez de nouveau l’application, ou faites supprimer le second facteur par quelqu’un."

        msgid "This token is wrong, has expired, or was already used: ask for another mail."
        msgstr "Ce jeton est incorrect, a expiré ou a déjà servi : demandez un autre e-mail."

        msgid "There is already an open invitation to this address for this role: send that one again."
        msgstr "Une invitation en attente existe déjà à cette adresse pour ce rôle : renvoyez celle-là."

        msgid "Too many invitations: at most {0} from one person and {1} to one object can be open, and each can be sent {2} times. Revoke some first."
        msgstr "Trop d’invitations : au plus {0} par personne et {1} par objet peuvent être en attente, et chacune est envoyée {2} fois. Révoquez-en d’abord quelques-unes."

        msgid "This server can't send mails."
        msgstr "Ce serveur ne peut pas envoyer d’e-mails."

        msgid "Too many attempts, for this account or from your network: try again in a second."
        msgstr "Trop de tentatives, pour ce compte ou depuis votre réseau : réessayez dans une seconde."

        msgid "Too many attempts, for this account or from your network: try again in {0} second."
        msgid_plural "Too many attempts, for this account or from your network: try again in {0} seconds."
        msgstr[0] "Trop de tentatives, pour ce compte ou depuis votre réseau : réessayez dans {0} seconde."
        msgstr[1] "Trop de tentatives, pour ce compte ou depuis votre réseau : réessayez dans {0} secondes."

        msgid "Too many attempts, for this account or from your network: try again in {0} minute."
        msgid_plural "Too many attempts, for this account or from your network: try again in {0} minutes."
        msgstr[0] "Trop de tentatives, pour ce compte ou depuis votre réseau : réessayez dans {0} minute."
        msgstr[1] "Trop de tentatives, pour ce compte ou depuis votre réseau : réessayez dans {0} minutes."

        # Packages/Server/Authentication/Mail/MailDeliveryError.swift

        msgid "The carrier answered with status {0}."
        msgstr "Le service d’envoi a répondu avec le statut {0}."

        msgid "The carrier's host refused the connection."
        msgstr "L’hôte du service d’envoi a refusé la connexion."

        msgid "The carrier's host can't be found by its name."
        msgstr "L’hôte du service d’envoi est introuvable sous son nom."

        msgid "No secure connection to the carrier could be made: TLS failed."
        msgstr "Aucune connexion sécurisée au service d’envoi n’a pu être établie : TLS a échoué."

        msgid "The carrier didn't answer in time."
        msgstr "Le service d’envoi n’a pas répondu à temps."

        msgid "The connection to the carrier failed."
        msgstr "La connexion au service d’envoi a échoué."

        msgid "The folder {0} can't be written to."
        msgstr "Impossible d’écrire dans le dossier {0}."

        msgid "The program {0} couldn't be started."
        msgstr "Le programme {0} n’a pas pu être lancé."

        msgid "The program {0} ended with exit code {1}."
        msgstr "Le programme {0} s’est terminé avec le code de sortie {1}."

        msgid "The program {0} was killed by a signal, which it gets after {1} seconds."
        msgstr "Le programme {0} a été arrêté par un signal. Il en reçoit un après {1} secondes."

        msgid "Check {0}, which is sent as the bearer token."
        msgstr "Vérifiez {0}, envoyé au service comme jeton « bearer »."

        msgid "Check the address in {0}."
        msgstr "Vérifiez l’adresse dans {0}."

        msgid "Its own log should say why."
        msgstr "Son propre journal devrait indiquer pourquoi."

        msgid "Check the host and the port in {0}, and whether the carrier is running."
        msgstr "Vérifiez l’hôte et le port dans {0}, et si le service d’envoi est en marche."

        msgid "Check the host in {0}, and this server's name resolution (DNS)."
        msgstr "Vérifiez l’hôte dans {0}, et la résolution de noms (DNS) de ce serveur."

        msgid "The certificate must be valid for the host in {0} and come from an authority that this server trusts, and the port must speak TLS."
        msgstr "Le certificat doit être valable pour l’hôte dans {0} et provenir d’une autorité à laquelle ce serveur fait confiance, et le port doit parler TLS."

        msgid "Check the address in {0}, whether a firewall keeps this server from connecting to it, and the carrier's load."
        msgstr "Vérifiez l’adresse dans {0}, si un pare-feu empêche ce serveur de s’y connecter, et la charge du service d’envoi."

        msgid "Check the address in {0}, and whether this server may connect to it."
        msgstr "Vérifiez l’adresse dans {0}, et si ce serveur a le droit de s’y connecter."

        msgid "Give this server's user write access to it."
        msgstr "Autorisez l’utilisateur sous lequel ce serveur s’exécute à y écrire."

        msgid "Check its path in {0}, and whether this server's user may run it."
        msgstr "Vérifiez son chemin dans {0}, et si l’utilisateur de ce serveur a le droit de l’exécuter."

        msgid "Run it by hand as this server's user. Its own log should say why."
        msgstr "Exécutez-le à la main en tant qu’utilisateur de ce serveur. Son propre journal devrait indiquer pourquoi."

        # Packages/Server/Authentication/Passwords/Authenticator+Passwords.swift

        msgid "it is your current password."
        msgstr "c’est celui que vous avez déjà."

        # Packages/Server/Authentication/Passwords/PasswordWeakness.swift

        msgid "it is one of the most common passwords, or close to one, and among the first that attackers try."
        msgstr "c’est l’un des plus courants, ou il en diffère à peine, et il fait partie des premiers essayés."

        msgid "it is little more than your e-mail address or name, and among the first that attackers try."
        msgstr "il ne contient guère plus que votre adresse e-mail ou votre nom, et fait partie des premiers essayés."

        msgid "it is made of sequences such as 1234, qwerty or aaaa, and among the first that attackers try."
        msgstr "il se compose de suites de caractères, comme 1234, qwerty ou aaaa, et fait partie des premiers essayés."

        msgid "it repeats a few characters, and is among the first that attackers try."
        msgstr "il répète quelques caractères, et fait partie des premiers essayés."

        msgid "Choose one that only you would think of, such as four unrelated words."
        msgstr "Prenez-en un qui ne soit qu’à vous, par exemple quatre mots sans rapport entre eux."

        # Packages/Server/PostgresStore/Audit/AuditFollower.swift

        msgid "{0} month was dropped"
        msgid_plural "{0} months were dropped"
        msgstr[0] "{0} mois supprimé"
        msgstr[1] "{0} mois supprimés"

        # Packages/Server/PostgresStore/Feed/ChangelogRetention.swift

        msgid "devices may be at tick {0} or later"
        msgstr "les appareils peuvent en être au tick {0} ou après"

        msgid "nothing is old enough"
        msgstr "rien n’est assez ancien"

        msgid "{0} partition was dropped"
        msgid_plural "{0} partitions were dropped"
        msgstr[0] "{0} partition supprimée"
        msgstr[1] "{0} partitions supprimées"

        msgid "a new partition is in use"
        msgstr "une nouvelle partition est utilisée"

        msgid "waiting for other transactions"
        msgstr "attend d’autres transactions"

        # Packages/Server/ServerModel/ServerModels+Roles.swift

        msgid "The database refuses to change a grant of '{0}': {1} Nothing was changed."
        msgstr "La base garde une attribution de « {0} » telle quelle : {1} Rien n’a été modifié."

        msgid "{0} grant gives the role '{1}'. First take it away from everyone who has it; nothing was changed."
        msgid_plural "{0} grants give the role '{1}'. First take it away from everyone who has it; nothing was changed."
        msgstr[0] "{0} attribution donne le rôle « {1} ». Retirez-le d’abord à tous ceux qui l’ont ; rien n’a été modifié."
        msgstr[1] "{0} attributions donnent le rôle « {1} ». Retirez-le d’abord à tous ceux qui l’ont ; rien n’a été modifié."

        msgid "{0} grant already gives the role '{1}', although it doesn't exist yet. Delete the grant first, or choose another name; nothing was changed."
        msgid_plural "{0} grants already give the role '{1}', although it doesn't exist yet. Delete the grants first, or choose another name; nothing was changed."
        msgstr[0] "{0} attribution donne déjà le rôle « {1} », bien qu’il n’existe pas encore. Supprimez d’abord ce qui le donne, ou choisissez un autre nom ; rien n’a été modifié."
        msgstr[1] "{0} attributions donnent déjà le rôle « {1} », bien qu’il n’existe pas encore. Supprimez d’abord ce qui le donne, ou choisissez un autre nom ; rien n’a été modifié."

        # Packages/Server/GatewayService/Inspector/InspectorReason.swift

        msgid "role '{0}' ({1})"
        msgstr "rôle « {0} » ({1})"

        msgid "role '{0}' ({1}) would need: {2}"
        msgstr "le rôle « {0} » ({1}) demanderait : {2}"

        msgid "The object is in the trash, so no device has it."
        msgstr "L’objet est dans la corbeille ; aucun appareil ne l’a donc."

        msgid "Restore it with POST /admin/trash/ID/restore on the admin server."
        msgstr "Restaurez-le dans la corbeille, ou avec POST /admin/trash/ID/restore du serveur d’administration."

        msgid "There is no {0} with this id, or none that you may inspect."
        msgstr "Aucun objet {0} n’a cet id, ou aucun que vous puissiez inspecter."

        msgid "A device may have created it and not uploaded it yet."
        msgstr "Un appareil l’a peut-être écrit sans l’avoir encore envoyé."

        msgid "The object was written after the newest tick, {0}: devices get it with the next one."
        msgstr "L’objet a été écrit après le tick {0}, le plus récent : les appareils le reçoivent avec le suivant."

        msgid "If this doesn't change, no sequencer is running: look at tombolo_sequencer_elected."
        msgstr "Si cela persiste, aucun séquenceur n’est à l’œuvre : regardez tombolo_sequencer_elected."

        msgid "The device has subscribed to it since: its new subscriptions are waiting for the batch in progress."
        msgstr "L’appareil l’a demandé entre-temps : ses nouveaux abonnements attendent le lot en cours."

        msgid "The device's version of the app has no class {0}."
        msgstr "La version de l’application sur l’appareil n’a pas de classe {0}."

        msgid "The device has no subscription to {0}."
        msgstr "Aucun abonnement de l’appareil ne porte sur {0}."

        msgid "None of the device's subscriptions to {0} matches the object ({1} checked)."
        msgstr "Aucun des abonnements de l’appareil à {0} ne correspond à l’objet ({1})."

        msgid "An unnamed subscription requires {0}"
        msgstr "L’abonnement sans nom demande {0}"

        msgid "The subscription '{0}' requires {1}"
        msgstr "L’abonnement « {0} » demande {1}"

        msgid "The session is in a partition, and {0} has no partition key."
        msgstr "La session est dans une partition, et {0} n’a pas de propriété de partition."

        msgid "The session is in the partition {0}, and the object is in another one."
        msgstr "L’objet est dans une autre partition que la session, qui est dans {0}."

        msgid "Its '{0}' is {1}"
        msgstr "Sa propriété « {0} » est {1}"

        msgid "The rules don't let the device's user read the object: the {0} decides."
        msgstr "Les règles ne laissent pas l’utilisateur de l’appareil lire l’objet : le {0} décide."

        msgid "The rules don't let the device's user read the object: no role applies to the user."
        msgstr "Les règles ne laissent pas l’utilisateur de l’appareil lire l’objet : aucun rôle ne s’applique à lui."

        msgid "The rules don't let the device's user read the object."
        msgstr "Les règles ne laissent pas l’utilisateur de l’appareil lire l’objet."

        msgid "It would have to satisfy {0}"
        msgstr "Il devrait satisfaire {0}"

        msgid "The device has the object, but its version of the app has no property '{0}'."
        msgstr "L’appareil a l’objet, mais sa version de l’application n’a pas de propriété « {0} »."

        msgid "The device has the object, but the rules hide '{0}' from its user."
        msgstr "L’appareil a l’objet, mais les règles cachent « {0} » à son utilisateur."

        msgid "The device is connected, but its session isn't open yet: it is {0}."
        msgstr "L’appareil est connecté, mais sa session n’est pas encore ouverte. Son état : {0}."

        msgid "There is no such user, or the account was deleted or is disabled."
        msgstr "Cet utilisateur n’existe pas, ou son compte a disparu ou est désactivé."

        msgid "The object is in the batch that the gateway is reading for the device."
        msgstr "Il est destiné à l’appareil, et se trouve dans le lot en cours de lecture pour lui."

        msgid "{0} bytes of the batch are waiting for the device."
        msgstr "{0} octets du lot attendent l’appareil."

        msgid "The object is for the device, which hasn't acknowledged the last {0} batches, up to tick {1}."
        msgstr "Il est destiné à l’appareil, qui a reçu {0} lots, jusqu’au tick {1}, sans avoir dit les avoir appliqués."

        msgid "{0} bytes are waiting for its connection."
        msgstr "{0} octets attendent sa connexion."

        msgid "The object is for the device, which is at tick {0}, {1} behind the newest."
        msgstr "Il est destiné à l’appareil, qui en est au tick {0}, avec {1} de retard."

        msgid "The device should have the object: the gateway sent it all its changes up to tick {0}, and the device applied them."
        msgstr "La passerelle pense que l’appareil l’a : tout ce qui le concerne jusqu’au tick {0} lui a été envoyé, et il l’a appliqué."

        # Packages/Server/GatewayService/Inspector/InspectorView.swift

        msgid "(not shown: it looks at what you may not read)"
        msgstr "(non montré : cela porte sur ce que vous ne pouvez pas lire)"

        msgid "{0} is {1}"
        msgstr "{0} vaut {1}"

        msgid "{0}, but {1}"
        msgstr "{0}, mais {1}"

        # Packages/Core/Model/Document/ModelDocument+Editing.swift

        msgid "There is a retired class {0}: remove its \"retired\" to bring it back, or choose another name."
        msgstr "Il existe une classe retirée {0} : enlevez son « retired » pour la retrouver, ou choisissez un autre nom."

        msgid "{0} has a retired property {1}: remove its \"retired\" to bring it back, or choose another name."
        msgstr "{0} a une propriété retirée {1} : enlevez son « retired » pour la retrouver, ou choisissez un autre nom."

        msgid "There is no property '{0}'."
        msgstr "La propriété « {0} » n’existe pas."

        # Packages/Core/Model/Document/ModelDocument+Reading.swift

        msgid "The document has {0} bytes; the limit is {1}."
        msgstr "Le document a {0} octets ; {1} au plus sont lus."

        msgid "The document isn't valid UTF-8."
        msgstr "Le document n’est pas un texte en UTF-8."

        msgid "The document isn't valid JSON."
        msgstr "Le document n’est pas du JSON valide."

        msgid "The document isn't valid JSON: {0}"
        msgstr "Le document n’est pas du JSON valide : {0}"

        msgid "Line {0}: \"{1}\" appears twice in one object."
        msgstr "Ligne {0} : « {1} » est donné deux fois dans un objet."

        # Packages/Core/Model/Document/ModelDocumentCheck+Sizes.swift

        msgid "The class has too many columns, including those of its embedded objects; the limit is {0}."
        msgstr "La classe a trop de colonnes avec celles de ses objets imbriqués ; {0} au plus sont possibles."

        msgid "The class has {0} columns, including those of its embedded objects; the limit is {1}."
        msgstr "La classe a {0} colonnes avec celles de ses objets imbriqués ; {1} au plus sont possibles."

        msgid "A property of an embedded object has more than {0} possible names: remove previous names that no version uses."
        msgstr "Une propriété d’un objet imbriqué pourrait porter plus de {0} noms : enlevez les anciens noms qu’aucune version n’utilise."

        msgid "The classes and their lists need more than {0} tables: use fewer lists in embedded classes."
        msgstr "Les classes et leurs listes demandent plus de {0} tables : utilisez moins de listes dans les classes imbriquées."

        msgid "The tables need more than {0} columns in total: use fewer embedded objects."
        msgstr "Les tables demandent ensemble plus de {0} colonnes : utilisez moins d’objets imbriqués."

        msgid "Cycles containing embedded objects are not supported: '{0}.{1}' leads back to {2}. Make one of the classes an Object and link to it."
        msgstr "Les cycles d’objets imbriqués ne sont pas pris en charge : « {0}.{1} » ramène à {2}. Faites de l’une des classes un Object, et renvoyez-y par un lien."

        msgid "Embedded objects are nested more than {0} levels deep."
        msgstr "Des objets imbriqués le sont à plus de {0} niveaux."

        # Packages/Core/Model/Document/ModelDocumentCheck.swift

        msgid "There are {0} classes; the limit is {1}."
        msgstr "Il y a {0} classes ; {1} au plus sont possibles."

        msgid "The class is declared twice."
        msgstr "La classe est donnée deux fois."

        msgid "An embedded class can't have a trash: its objects are deleted with their owner."
        msgstr "Une classe imbriquée n’a pas de corbeille : ses objets partent avec leur propriétaire."

        msgid "An embedded class can't have unique properties: declare them in the classes that contain it."
        msgstr "Une classe imbriquée n’a pas de propriétés uniques : déclarez-les dans les classes qui la contiennent."

        msgid "The class has {0} properties; the limit is {1}."
        msgstr "La classe a {0} propriétés ; {1} au plus sont possibles."

        msgid "The property is declared twice."
        msgstr "La propriété est donnée deux fois."

        msgid "\"values\": {0}"
        msgstr "« values » : {0}"

        msgid "A hint must have 1 to {0} bytes, not {1}."
        msgstr "Une indication a de 1 à {0} octets, et non {1}."

        msgid "Only a 'string' without \"values\" can be Markdown."
        msgstr "Seul un « string » sans « values » peut être du Markdown."

        msgid "Only a 'double' can be the latitude or longitude of a \"place\"."
        msgstr "Seul un « double » peut être la latitude ou la longitude d’un « place »."

        msgid "A {0} can't be a primary key, indexed or encrypted: only values and links can."
        msgstr "Un {0} ne peut être ni clé primaire, ni indexé, ni chiffré : seuls les valeurs et les liens le peuvent."

        msgid "An embedded class can't have a primary key: its owner identifies its objects."
        msgstr "Une classe imbriquée n’a pas de clé primaire : ses objets sont connus par leur propriétaire."

        msgid "An embedded object can be nil: write '{0}?'."
        msgstr "Un objet imbriqué peut être absent : écrivez « {0}? »."

        msgid "A list is never nil: write '{0}'."
        msgstr "Une liste n’est jamais nil : écrivez « {0} »."

        msgid "A list holds values, links or embedded objects, not '{0}'."
        msgstr "Une liste contient des valeurs, des liens ou des objets imbriqués, et non « {0} »."

        msgid "In an embedded class, a list of values is stored in one column: write 'array<{0}>', whose elements can't be nil."
        msgstr "Dans une classe imbriquée, une liste de valeurs est une colonne : écrivez « array<{0}> », dont les éléments ne peuvent pas être nil."

        msgid "In an embedded class, a list of values is stored in one column: write 'array<{0}>'."
        msgstr "Dans une classe imbriquée, une liste de valeurs est une colonne : écrivez « array<{0}> »."

        msgid "Only embedded classes store lists in one column: write 'list<…>'."
        msgstr "Seules les classes imbriquées ont des listes en une colonne : écrivez « list<…> »."

        msgid "'{0}' can't be part of an array."
        msgstr "« {0} » ne peut pas faire partie d’un array."

        msgid "An integer must have 8, 16, 32 or 64 bits, not {0}."
        msgstr "Un entier a 8, 16, 32 ou 64 bits, et non {0}."

        msgid "LinkingObjects are computed on devices and aren't part of a document."
        msgstr "Les LinkingObjects sont calculés sur les appareils et ne font pas partie d’un document."

        msgid "The class '{0}' isn't in the document."
        msgstr "La classe « {0} » n’est pas dans le document."

        msgid "{0} is embedded, so nothing can link to it: write 'embedded<{1}>'."
        msgstr "{0} est imbriquée ; aucun lien ne peut donc y mener : écrivez « embedded<{1}> »."

        msgid "{0} isn't an embedded class: write 'link<{1}>'."
        msgstr "{0} n’est pas une classe imbriquée : écrivez « link<{1}> »."

        msgid "There are {0} previous names; the limit is {1}."
        msgstr "Il y a {0} anciens noms ; {1} au plus sont possibles."

        msgid "A class with a place needs one property with \"place\": \"latitude\" and one with \"longitude\". Put a second place into an embedded class."
        msgstr "Une classe avec un lieu a une propriété avec \"place\": \"latitude\" et une avec \"longitude\". Mettez un second lieu dans une classe imbriquée."

        msgid "\"unique\" names '{0}', which isn't a property."
        msgstr "« unique » nomme « {0} », qui n’est pas une propriété."

        msgid "\"unique\" names '{0}', which is a list."
        msgstr "« unique » nomme « {0} », qui est une liste."

        msgid "\"unique\" has an empty group."
        msgstr "« unique » a un groupe sans nom."

        # Packages/Core/Model/Document/ModelDocumentReader.swift

        msgid "The document must be a JSON object with the members format, app and classes."
        msgstr "Le document doit être un objet JSON avec les membres format, app et classes."

        msgid "The document has no \"format\", which must be a whole number. Is it a model document? This program reads format {0}."
        msgstr "Le document n’a pas de « format », un nombre entier : est-ce un document de modèle ? Ce programme lit le format {0}."

        msgid "The document has format {0}: it was written by a newer version of Tombolo. This program reads format {1}; update it."
        msgstr "Le document a le format {0} : il a été écrit par une version plus récente de Tombolo. Ce programme lit le format {1} ; mettez-le à jour."

        msgid "The document has format {0}, which doesn't exist."
        msgstr "Le document a le format {0}, qui n’existe pas."

        msgid "\"{0}\" isn't a member of a document."
        msgstr "« {0} » n’est pas un membre d’un document."

        msgid "A class must be a JSON object."
        msgstr "Une classe doit être un objet JSON."

        msgid "\"{0}\" isn't a member of a class."
        msgstr "« {0} » n’est pas un membre d’une classe."

        msgid "An embedded class has no table: remove \"table\" or \"embedded\"."
        msgstr "Une classe imbriquée n’a pas de table : enlevez « table » ou « embedded »."

        msgid "A property must be a JSON object."
        msgstr "Une propriété doit être un objet JSON."

        msgid "\"{0}\" isn't a member of a property."
        msgstr "« {0} » n’est pas un membre d’une propriété."

        msgid "'{0}' isn't a type."
        msgstr "« {0} » n’est pas un type."

        msgid "\"onDelete\" must be \"cascade\" or \"nullify\", not \"{0}\"."
        msgstr "« onDelete » est « cascade » ou « nullify », et non « {0} »."

        msgid "\"place\" must be \"latitude\" or \"longitude\", not \"{0}\"."
        msgstr "« place » est « latitude » ou « longitude », et non « {0} »."

        msgid "\"{0}\" is missing."
        msgstr "« {0} » manque."

        msgid "\"{0}\" must be a string."
        msgstr "« {0} » doit être un texte."

        msgid "\"{0}\" must be true or false."
        msgstr "« {0} » doit être true ou false."

        msgid "\"{0}\" must be an array."
        msgstr "« {0} » doit être un tableau."

        msgid "\"{0}\" has more than {1} elements."
        msgstr "« {0} » a plus de {1} éléments."

        msgid "\"values\" must be an array of strings or of whole numbers."
        msgstr "« values » doit être un tableau de textes ou de nombres entiers."

        msgid "\"{0}\" must be an array of names."
        msgstr "« {0} » doit être un tableau de noms."

        # Packages/Core/Model/Document/ModelName.swift

        msgid "'{0}' isn't a valid Swift name."
        msgstr "« {0} » n’est pas un nom en Swift."

        msgid "'{0}' has characters that Swift names can't contain: use letters, digits and _."
        msgstr "« {0} » a des caractères qu’un nom en Swift n’a pas : utilisez des lettres, des chiffres et _."

        msgid "The SQL name '{0}' has characters that aren't supported: use letters, digits and _."
        msgstr "Le nom SQL « {0} » a des caractères qui ne sont pas pris en charge : utilisez des lettres, des chiffres et _."

        msgid "The app's name '{0}' must consist of lower-case letters, digits, - and _, and begin with a letter."
        msgstr "Le nom de l’application « {0} » doit se composer de minuscules, de chiffres, de - et de _, et commencer par une lettre."

        msgid "The name is empty."
        msgstr "Le nom est vide."

        msgid "The name '{0}' has {1} bytes; the limit is {2}."
        msgstr "Le nom « {0} » a {1} octets ; {2} au plus sont possibles."

        # Packages/Core/Model/Schema/AllowedValues.swift

        msgid "'{0}' can't have the value {1}."
        msgstr "« {0} » ne peut pas avoir la valeur {1}."

        msgid "There must be at least one value."
        msgstr "Il faut au moins une valeur."

        msgid "There are {0} values; the limit is {1}."
        msgstr "Il y a {0} valeurs ; {1} au plus sont possibles."

        msgid "A value is listed twice."
        msgstr "Une valeur est donnée deux fois."

        msgid "A value has more than {0} bytes, or contains U+0000."
        msgstr "Une valeur a plus de {0} octets, ou U+0000."

        msgid "The values must be strings or whole numbers."
        msgstr "Les valeurs doivent être des textes ou des nombres entiers."

        # Packages/Core/Model/Schema/Column.swift

        msgid "'{0}' is required and cannot be nil."
        msgstr "« {0} » est obligatoire et ne peut pas être vide."

        msgid "'{0}' is a {1}-bit integer and cannot hold {2}."
        msgstr "« {0} » est un entier de {1} bits et ne peut pas contenir {2}."

        msgid "'{0}' cannot be NaN: use an optional and nil instead."
        msgstr "« {0} » ne peut pas être NaN : rendez-le facultatif et laissez-le vide."

        msgid "'{0}' can hold at most {1} elements, not {2}."
        msgstr "« {0} » contient au plus {1} éléments, et non {2}."

        msgid "'{0}' must lie between the years 1 and 9999."
        msgstr "« {0} » doit se situer entre les années 1 et 9999."

        msgid "'{0}' links to {1} and cannot hold {2}."
        msgstr "« {0} » renvoie à {1} et ne peut pas contenir {2}."

        msgid "'{0}' is of type {1} and cannot hold {2}."
        msgstr "« {0} » est de type {1} et ne peut pas contenir {2}."

        msgid "'{0}' cannot contain U+0000, which PostgreSQL can't store in text."
        msgstr "« {0} » ne peut pas contenir U+0000, que le type texte du serveur n’admet pas."

        msgid "'{0}' can hold at most {1} bytes, not {2}."
        msgstr "« {0} » contient au plus {1} octets, et non {2}."

        # Packages/Core/Rules/Explaining/RuleExpression+Need.swift

        msgid "the rule permits nobody"
        msgstr "la règle ne le permet à personne"

        msgid "not {0}, but it holds"
        msgstr "pas {0}, mais c’est le cas"

        msgid "{0}, but it is {1}"
        msgstr "{0}, mais c’est {1}"

        msgid "{0}, but {1} is {2}"
        msgstr "{0}, mais {1} vaut {2}"

        msgid "{0}, but nobody is logged in"
        msgstr "{0}, mais personne n’est connecté"

        msgid "{0}, but the session's partition has no such value"
        msgstr "{0}, mais la partition de la session n’a pas cette valeur"

        msgid "{0}, but the user has no such value"
        msgstr "{0}, mais l’utilisateur n’a pas cette valeur"

        msgid "a list of {0}"
        msgstr "une liste de longueur {0}"

        msgid "an object with {0} keys"
        msgstr "un objet dont le nombre de clés est {0}"

        msgid "{0}, but it is empty"
        msgstr "{0}, mais c’est vide"

        msgid "{0}, but {1} is empty"
        msgstr "{0}, mais {1} est vide"

        # Packages/Core/Rules/Explaining/RuleNeed.swift

        msgid "one of these:"
        msgstr "l’un de ces points :"

        # Packages/Core/Rules/Explaining/Rules+Explaining.swift

        msgid "a login"
        msgstr "une connexion"

        # Packages/Core/Rules/Matrix/Rules+Matrix.swift

        msgid "There is no permission matrix."
        msgstr "Il n’y a pas de matrice d’autorisations."

        msgid "Not permitted to {0} by the permission matrix: its rule requires {1}."
        msgstr "Non autorisé par la matrice d’autorisations ({0}) : sa règle demande {1}."

        msgid "Not permitted to {0} the permission matrix: its rule requires {1}."
        msgstr "Non autorisé : {0} la matrice d’autorisations. Sa règle demande {1}."

        # Packages/Core/Rules/Rules+Partitions.swift

        msgid "the class has no partition key, so it isn't synchronised in Realms of a partition."
        msgstr "la classe n’a pas de propriété qui indique la partition d’un objet ; elle n’est donc pas synchronisée dans les Realms d’une partition."

        msgid "the Realm's partition is {0}, and {1}"
        msgstr "la partition du Realm est {0}. {1}"

        msgid "its '{0}' isn't the Realm's partition, {1}; leave '{2}' empty, or write the object in the Realm of its own partition."
        msgstr "sa propriété « {0} » n’est pas la partition du Realm, {1} ; laissez « {2} » vide, ou écrivez l’objet dans le Realm de sa propre partition."

        # Packages/Core/Rules/Rules+Requirements.swift

        msgid "Not permitted to {0} this {1} like this: that requires the permission '{2}'."
        msgstr "Non autorisé : {0} ainsi cet objet ({1}). Il faut l’autorisation « {2} »."

        # Packages/Core/Rules/Rules.swift

        msgid "Not permitted to {0} this {1}: {2}"
        msgstr "Non autorisé : {0} cet objet ({1}), car {2}"

        msgid "Not permitted to change the {0} of this {1}: that moves it, and the matrix doesn't permit deleting it in the old {2}."
        msgstr "Non autorisé : modifier « {0} » de cet objet ({1}). Cela le déplace, et la matrice ne permet pas de le supprimer de l’ancien « {2} »."

        msgid "Not permitted to change the {0} of this {1}: that moves it, and the matrix doesn't permit creating it in the new {2}."
        msgstr "Non autorisé : modifier « {0} » de cet objet ({1}). Cela le déplace, et la matrice ne permet pas de le créer dans le nouveau « {2} »."

        msgid "no rule of the role '{0}' allows it"
        msgstr "aucune règle du rôle « {0} » ne le permet"

        msgid "{0} has no rules"
        msgstr "la classe {0} n’a pas de règles"

        msgid "none of its roles applies to this user"
        msgstr "aucun de ses rôles ne s’applique à cet utilisateur"

        msgid "Not permitted to change the {0} of this {1}: {2}."
        msgstr "Non autorisé : modifier « {0} » de cet objet ({1}), car {2}."

        msgid "Not permitted to {0} this {1}: {2}."
        msgstr "Non autorisé : {0} cet objet ({1}), car {2}."

        # Packages/Core/RuleDocuments/MatrixEditError.swift

        msgid "The rules have no permission matrix."
        msgstr "Les règles n’ont pas de matrice d’autorisations."

        msgid "'{0}' may change {1}, and a role that may change objects may read them. Remove create, update and delete first."
        msgstr "« {0} » peut modifier {1}, et qui peut modifier des objets peut les lire. Retirez d’abord la création, la modification et la suppression."

        msgid "'{0}' may not read {1}, and a role that may change objects must be able to read them. Permit read first."
        msgstr "« {0} » ne peut pas lire {1}, et qui peut modifier des objets peut les lire. Autorisez d’abord la lecture."

        msgid "The box to {0} {1} would permit nothing: no rule asks for it in a role that applies everywhere."
        msgstr "La case « {0} {1} » ne permettrait rien : aucune règle ne la consulte pour un rôle qui vaut partout."

        msgid "The box to {0} {1} would permit nothing: no rule asks for it in a role that applies within an object."
        msgstr "La case « {0} {1} » ne permettrait rien : aucune règle ne la consulte pour un rôle qui vaut dans un objet."

        msgid "The box of '{0}' and '{1}' (line {2}) isn't written as plain letters, or an alias or a merge key shares it with other boxes. Write it out in the document, and apply that."
        msgstr "La case de « {0} » et « {1} » (ligne {2}) vaut aussi pour d’autres, par un alias ou une clé de fusion, ou n’est pas écrite en simples lettres. Écrivez-la en toutes lettres dans le document, et appliquez celui-ci."

        msgid "The box of '{0}' and '{1}' (line {2}) isn't written as true or false, or an alias or a merge key shares it with other boxes. Write it out in the document, and apply that."
        msgstr "La case de « {0} » et « {1} » (ligne {2}) vaut aussi pour d’autres, par un alias ou une clé de fusion, ou n’est pas écrite true ou false. Écrivez-la en toutes lettres dans le document, et appliquez celui-ci."

        msgid "A role can't be called '{0}': {1}"
        msgstr "Un rôle ne peut pas s’appeler « {0} » : {1}"

        msgid "The rules name the role '{0}' on line {1}, so it belongs to the app. Change its boxes, or change the document and apply it."
        msgstr "Les règles nomment le rôle « {0} » à la ligne {1} ; il appartient donc à l’application. Modifiez ses cases, ou modifiez le document et appliquez-le."

        msgid "The role '{0}' can't be changed, because of how the rules list roles (line {1}): write 'grants', its 'roles' and the matrix without aliases and merge keys, one role after the other."
        msgstr "Les règles énumèrent les rôles d’une façon qui ne permet pas de modifier le rôle « {0} » (ligne {1}) : écrivez « grants », ses « roles » et la matrice sans alias ni clés de fusion, un rôle après l’autre."

        # Packages/Core/RuleDocuments/RuleText+Roles.swift

        msgid "it must have 1 to {0} letters, digits, '-' and '_', and begin with a letter."
        msgstr "il faut de 1 à {0} lettres, chiffres, « - » et « _ », en commençant par une lettre."

        msgid "the name is reserved."
        msgstr "ce nom signifie autre chose."

        msgid "there is already a role '{0}'."
        msgstr "il existe un rôle « {0} »."

        msgid "the rules already use this word on line {0}."
        msgstr "les règles emploient ce mot à la ligne {0}."

        # Packages/Tools/Migration/Editing/DatabaseMigrations.swift

        msgid "\"app\" is '{0}': this is the model of '{1}', whose name stays."
        msgstr "« app » est « {0} » : ceci est le modèle de « {1} », dont le nom reste."

        # Packages/Server/AdminPanel/Templates/account.mustache

        msgid "Disabled"
        msgstr "Désactivation"

        msgid "E-mail address"
        msgstr "Adresse e-mail"

        msgid "Logs in with"
        msgstr "Se connecte avec"

        msgid "Roles"
        msgstr "Rôles"

        msgid "Custom data"
        msgstr "Données personnalisées"

        msgid "View as {{name}}"
        msgstr "Voir en tant que {{name}}"

        msgid "Mail a link to set a password"
        msgstr "Envoyer un lien pour définir un mot de passe"

        msgid "Remove the second factor"
        msgstr "Supprimer le second facteur"

        msgid "Devices and logins"
        msgstr "Appareils et sessions"

        msgid "Nobody is logged in to this account."
        msgstr "Ce compte n’a aucune session ouverte."

        msgid "Logged in with"
        msgstr "Connexion par"

        msgid "Since"
        msgstr "Depuis"

        msgid "Last used"
        msgstr "Dernière utilisation"

        msgid "Action"
        msgstr "Action"

        msgid "(this one)"
        msgstr "(celle-ci)"

        msgid "End the login of {{device}}"
        msgstr "Fermer la session : {{device}}"

        msgid "End"
        msgstr "Fermer"

        msgid "End all logins"
        msgstr "Fermer toutes les sessions"

        # Packages/Server/AdminPanel/Templates/account_confirm.mustache

        msgid "Cancel"
        msgstr "Annuler"

        # Packages/Server/AdminPanel/Templates/account_new.mustache

        msgid "Show the account"
        msgstr "Afficher le compte"

        msgid "The new person gets a mail with a link to a page where they choose a password. The link is good for {{days}} days."
        msgstr "La nouvelle personne reçoit un e-mail avec un lien vers une page où elle choisit un mot de passe. Le lien est valable {{days}} jours."

        msgid "This server can't mail the new person a link to choose a password: that requires <1>TOMBOLO_MAIL</1> and <2>TOMBOLO_ADMIN_URL</2>. Its operator can set a password with <3>migration-tool user password ADDRESS</3>. Until then, nobody can log in to the account."
        msgstr "Ce serveur ne peut pas envoyer à la nouvelle personne de lien pour choisir un mot de passe : il faut pour cela <1>TOMBOLO_MAIL</1> et <2>TOMBOLO_ADMIN_URL</2>. Son exploitant peut définir un mot de passe avec <3>migration-tool user password ADDRESS</3>. D’ici là, personne ne peut se connecter à ce compte."

        msgid "E-mail"
        msgstr "E-mail"

        msgid "Name"
        msgstr "Nom"

        msgid "The account has no roles until somebody gives it some."
        msgstr "Le compte n’a aucun rôle tant que personne ne lui en donne."

        msgid "Add the account"
        msgstr "Ajouter le compte"

        # Packages/Server/AdminPanel/Templates/accounts.mustache

        msgid "Everybody who can log in, in any app."
        msgstr "Toutes les personnes qui peuvent se connecter, dans n’importe quelle application."

        msgid "Name, address or id"
        msgstr "Nom, adresse ou identifiant"

        msgid "Show"
        msgstr "Afficher"

        msgid "No accounts match."
        msgstr "Aucun compte ne correspond."

        msgid "Logins"
        msgstr "Sessions"

        msgid "Pages of the list"
        msgstr "Pages de la liste"

        msgid "Previous"
        msgstr "Précédente"

        msgid "Page {{page}}"
        msgstr "Page {{page}}"

        msgid "Next"
        msgstr "Suivante"

        # Packages/Server/AdminPanel/Templates/api.mustache

        msgid "Programs use <1>JSON:API 1.1</1> at <2>{{apiPath}}</2>. They see and change what the rules let their user see and change, as this panel does."
        msgstr "Les programmes utilisent <1>JSON:API 1.1</1> à l’adresse <2>{{apiPath}}</2>. Ils voient et modifient ce que les règles permettent à leur utilisateur, comme ce panneau."

        msgid "This stores an access token in the variable TOKEN, which the examples use. Replace PASSWORD with your password. If you have a second factor, send a code too, as the member \"code\"."
        msgstr "Ceci place un jeton d’accès dans la variable TOKEN, que les exemples utilisent. Mettez votre mot de passe à la place de PASSWORD. Si vous avez un second facteur, envoyez aussi un code, dans le membre \"code\"."

        msgid "Log in, as a command"
        msgstr "Se connecter, sous forme de commande"

        msgid "Classes"
        msgstr "Classes"

        msgid "Class"
        msgstr "Classe"

        msgid "You may"
        msgstr "Vous pouvez"

        msgid "There are no classes that you may read. Ask an administrator for a role."
        msgstr "Il n’y a aucune classe que vous puissiez lire. Demandez un rôle à un administrateur."

        msgid "More"
        msgstr "En savoir plus"

        msgid "<1>{{apiPath}}/openapi.json</1> describes all classes as OpenAPI 3.1, for tools. It covers what any user could be allowed to do."
        msgstr "<1>{{apiPath}}/openapi.json</1> décrit toutes les classes en OpenAPI 3.1, pour les outils, avec tout ce qui pourrait être permis à un utilisateur."

        msgid "<1>{{apiPath}}/operations</1> makes several changes at once, all or none."
        msgstr "<1>{{apiPath}}/operations</1> effectue plusieurs modifications à la fois, toutes ou aucune."

        msgid "The documentation has the rest: docs/json-api.md, and docs/jobs.md for exports, imports and bulk actions."
        msgstr "Le reste est dans la documentation : docs/json-api.md, et docs/jobs.md pour les exports, les imports et les actions groupées."

        # Packages/Server/AdminPanel/Templates/api_class.mustache

        msgid "What you may see and do at <1>{{address}}</1>. <2>Show the list</2>."
        msgstr "Ce que vous pouvez voir et faire à l’adresse <1>{{address}}</1>. <2>Afficher la liste</2>."

        msgid "This stores an access token in the variable TOKEN, which the examples use. Replace PASSWORD with your password."
        msgstr "Ceci place un jeton d’accès dans la variable TOKEN, que les exemples utilisent. Mettez votre mot de passe à la place de PASSWORD."

        msgid "Fields"
        msgstr "Champs"

        msgid "Field"
        msgstr "Champ"

        msgid "Type"
        msgstr "Type"

        msgid "On creation"
        msgstr "À la création"

        msgid "Access"
        msgstr "Accès"

        msgid "Leads to"
        msgstr "Mène à"

        msgid "Filters and order"
        msgstr "Filtres et ordre"

        msgid "Operators"
        msgstr "Opérateurs"

        msgid "Sortable"
        msgstr "Tri possible"

        msgid "without an operator, <1>eq</1> applies."
        msgstr "sans opérateur, <1>eq</1> s’applique."

        msgid "{{title}}, as a command"
        msgstr "{{title}}, sous forme de commande"

        msgid "Errors"
        msgstr "Erreurs"

        msgid "Every error says what is wrong, where, and what to do. The response to this request is {{status}}:"
        msgstr "Chaque erreur indique ce qui ne va pas, où, et que faire. Cette requête reçoit la réponse {{status}} :"

        msgid "An error response"
        msgstr "La réponse avec une erreur"

        # Packages/Server/AdminPanel/Templates/audit.mustache

        msgid "Operation"
        msgstr "Opération"

        msgid "Source"
        msgstr "Source"

        msgid "Object's id"
        msgstr "Identifiant de l’objet"

        msgid "User's address or id"
        msgstr "Adresse ou identifiant de l’utilisateur"

        msgid "From (UTC)"
        msgstr "À partir de (UTC)"

        msgid "Before (UTC)"
        msgstr "Avant (UTC)"

        msgid "Text"
        msgstr "Texte"

        msgid "Search"
        msgstr "Rechercher"

        msgid "Show everything"
        msgstr "Tout afficher"

        msgid "Changes, newest first; the log is complete until <1>{{upTo}}</1>"
        msgstr "Modifications, les plus récentes d’abord ; le journal est complet jusqu’à <1>{{upTo}}</1>"

        msgid "Changes, newest first"
        msgstr "Modifications, les plus récentes d’abord"

        msgid "When (UTC)"
        msgstr "Quand (UTC)"

        msgid "Object"
        msgstr "Objet"

        msgid "Who"
        msgstr "Qui"

        msgid "What"
        msgstr "Quoi"

        msgid "When"
        msgstr "Quand"

        msgid "Pages of the log"
        msgstr "Pages du journal"

        msgid "Older"
        msgstr "Plus ancien"

        msgid "No changes match. <1>Show everything</1>, or search for something else."
        msgstr "Aucune modification ne correspond. <1>Tout afficher</1>, ou chercher autre chose."

        # Packages/Server/AdminPanel/Templates/backup_delete.mustache

        msgid "<1>This can't be undone.</1> The backup {{name}} is deleted from the server's disk. Copies that were downloaded stay."
        msgstr "<1>Cette action est irréversible.</1> La sauvegarde {{name}} sera supprimée du disque du serveur. Les copies téléchargées sont conservées."

        msgid "Delete the backup"
        msgstr "Supprimer la sauvegarde"

        # Packages/Server/AdminPanel/Templates/backups.mustache

        msgid "To turn them on, set <1>TOMBOLO_BACKUPS</1> to a folder and <2>TOMBOLO_BACKUP_URL</2> to a database user that may read everything, and restart the server. The page <3>docs/backups.md</3> has the steps."
        msgstr "Pour les activer, définissez <1>TOMBOLO_BACKUPS</1> avec un dossier et <2>TOMBOLO_BACKUP_URL</2> avec un utilisateur de la base de données qui peut tout lire, puis redémarrez le serveur. La page <3>docs/backups.md</3> décrit les étapes."

        msgid "Backups of the whole database, in <1>{{folder}}</1> on this server. {{schedule}} Backups made by hand stay until somebody deletes them."
        msgstr "Sauvegardes de toute la base de données, dans <1>{{folder}}</1> sur ce serveur. {{schedule}} Les sauvegardes faites à la main restent jusqu’à ce que quelqu’un les supprime."

        msgid "They are restored with <1>pg_restore</1>, or here with <2>TOMBOLO_RESTORE_URL</2>: see <3>docs/backups.md</3>."
        msgstr "Elles se restaurent avec <1>pg_restore</1>, ou ici avec <2>TOMBOLO_RESTORE_URL</2> : voir <3>docs/backups.md</3>."

        msgid "Backups can't currently be restored here. {{.}}"
        msgstr "Les sauvegardes ne peuvent pas être restaurées ici pour le moment. {{.}}"

        msgid "Make a backup now"
        msgstr "Faire une sauvegarde maintenant"

        msgid "There are no backups yet."
        msgstr "Il n’y a pas encore de sauvegardes."

        msgid "A backup contains everything: all records, accounts and password hashes. Keep downloads as safe as the database."
        msgstr "Une sauvegarde contient tout : tous les objets, les comptes et les empreintes des mots de passe. Protégez les fichiers téléchargés autant que la base de données."

        msgid "Made"
        msgstr "Date"

        msgid "Size"
        msgstr "Taille"

        msgid "By"
        msgstr "Auteur"

        msgid "Took"
        msgstr "Durée"

        msgid "PostgreSQL"
        msgstr "PostgreSQL"

        msgid "Actions"
        msgstr "Actions"

        msgid "Download<1> {{name}}</1>"
        msgstr "Télécharger<1> {{name}}</1>"

        msgid "Restore…<1> {{name}}</1>"
        msgstr "Restaurer…<1> {{name}}</1>"

        msgid "Delete…<1> {{name}}</1>"
        msgstr "Supprimer…<1> {{name}}</1>"

        msgid "Backups that failed"
        msgstr "Sauvegardes en échec"

        msgid "Began"
        msgstr "Début"

        msgid "What went wrong"
        msgstr "Ce qui n’a pas fonctionné"

        msgid "Databases that were put aside"
        msgstr "Bases de données mises de côté"

        msgid "Each was in use until a backup or another of these databases replaced it. Nobody writes to them. They take up disk space until somebody deletes them."
        msgstr "Chacune était utilisée jusqu’à ce qu’une sauvegarde, ou une autre d’entre elles, prenne sa place. Personne n’y écrit. Elles occupent de l’espace disque jusqu’à ce que quelqu’un les supprime."

        msgid "In use until"
        msgstr "Utilisée jusqu’à"

        msgid "Bring back…<1> {{name}}</1>"
        msgstr "Rétablir…<1> {{name}}</1>"

        msgid "Restores"
        msgstr "Restaurations"

        msgid "Outcome"
        msgstr "Résultat"

        # Packages/Server/AdminPanel/Templates/bulk_clash.mustache

        msgid "{{message}} Nothing was changed."
        msgstr "{{message}} Rien n’a été modifié."

        msgid "The matching objects have changed since you looked. Check what would happen now before you go on."
        msgstr "Les objets correspondants ont changé depuis que vous les avez regardés. Vérifiez ce qui se passerait maintenant avant de continuer."

        msgid "See what would happen now"
        msgstr "Voir ce qui se passerait maintenant"

        # Packages/Server/AdminPanel/Templates/bulk_fields.mustache

        msgid "{{about}}. Tick the fields to change, and choose the new values. The next page shows what would happen."
        msgstr "{{about}}. Cochez les champs à modifier, et choisissez les nouvelles valeurs. La page suivante montre ce qui se passerait."

        msgid "Continue"
        msgstr "Continuer"

        msgid "Change {{label}}"
        msgstr "Modifier : {{label}}"

        msgid "See what would happen"
        msgstr "Voir ce qui se passerait"

        # Packages/Server/AdminPanel/Templates/bulk_trial.mustache

        msgid "New values:"
        msgstr "Nouvelles valeurs :"

        msgid "None of those tried would be refused."
        msgstr "Aucun des objets essayés ne serait refusé."

        msgid "The job runs in the background, even if you close this page. Its page shows the progress, and has a button to undo it."
        msgstr "La tâche s’exécute en arrière-plan, même si vous fermez cette page. Sa page montre l’avancement, et a un bouton pour la défaire."

        msgid "<1>This can't be undone</1>: the class has no trash."
        msgstr "<1>Cette action est irréversible</1> : la classe n’a pas de corbeille."

        msgid "Reason <1>(optional; shown in the trash)</1>"
        msgstr "Motif <1>(facultatif ; affiché dans la corbeille)</1>"

        msgid "All of them would be refused, so there is nothing to start. <1>Back to the list</1>"
        msgstr "Tous seraient refusés, il n’y a donc rien à lancer. <1>Retour à la liste</1>"

        msgid "There are no objects left to change. <1>Back to the list</1>"
        msgstr "Il ne reste aucun objet à modifier. <1>Retour à la liste</1>"

        # Packages/Server/AdminPanel/Templates/conflict.mustache

        msgid "Somebody else saved this after you opened the form. Your changes aren't saved yet."
        msgstr "Quelqu’un d’autre a enregistré une modification après que vous avez ouvert le formulaire. Vos modifications ne sont pas encore enregistrées."

        msgid "Who changed it:"
        msgstr "Auteurs des modifications :"

        msgid "The audit log doesn't show yet who changed {{.}}: it's about a second behind. The history will show it."
        msgstr "Le journal d’audit n’indique pas encore qui a modifié {{.}} : il a environ une seconde de retard. L’historique l’affichera ensuite."

        msgid "History"
        msgstr "Historique"

        msgid "Choose a value for each field that you both changed. Where only one of you changed a field, that change is already selected."
        msgstr "Choisissez une valeur pour chaque champ modifié des deux côtés. Si un champ n’a été modifié que d’un côté, cette modification est déjà sélectionnée."

        msgid "Your choice for {{lost}} isn't kept: choose again afterwards."
        msgstr "Votre choix pour {{lost}} n’est pas conservé : refaites-le ensuite."

        msgid "(changed by both of you)"
        msgstr "(modifié des deux côtés)"

        msgid "Before: {{was}}"
        msgstr "Avant : {{was}}"

        msgid "Before:"
        msgstr "Avant :"

        msgid "Current value: {{now}}"
        msgstr "Valeur actuelle : {{now}}"

        msgid "(changed)"
        msgstr "(modifié)"

        msgid "Your value: {{own}}"
        msgstr "Votre valeur : {{own}}"

        # Packages/Server/AdminPanel/Templates/control.mustache

        msgid "(required)"
        msgstr "(obligatoire)"

        msgid "Search {{plural}}"
        msgstr "Rechercher : {{plural}}"

        msgid "Find"
        msgstr "Chercher"

        msgid "Determines the choices for {{fields}}."
        msgstr "Détermine les choix proposés pour : {{fields}}."

        msgid "Update the choices<1> of {{fields}}</1>"
        msgstr "Actualiser les choix<1> : {{fields}}</1>"

        # Packages/Server/AdminPanel/Templates/device_session.mustache

        msgid "What the gateway currently knows about this device."
        msgstr "Ce que la passerelle sait actuellement de cet appareil."

        msgid "None."
        msgstr "Aucun."

        # Packages/Server/AdminPanel/Templates/devices.mustache

        msgid "Devices that are connected now, as reported by their gateways."
        msgstr "Les appareils connectés en ce moment, tels que leurs passerelles les signalent."

        msgid "Connected"
        msgstr "Connectés"

        msgid "Address or id"
        msgstr "Adresse ou identifiant"

        msgid "any"
        msgstr "indifférent"

        msgid "Gateways"
        msgstr "Passerelles"

        msgid "Now"
        msgstr "Maintenant"

        msgid "Last heard from"
        msgstr "Dernier signe de vie"

        msgid "Devices"
        msgstr "Appareils"

        msgid "Newest tick"
        msgstr "Tick le plus récent"

        msgid "No connected devices match."
        msgstr "Aucun appareil connecté ne correspond."

        # Packages/Server/AdminPanel/Templates/devices_known.mustache

        msgid "Every known device that has synced, the most recently seen first."
        msgstr "Tous les appareils connus qui ont été synchronisés, les derniers vus d’abord."

        msgid "No device has synced yet."
        msgstr "Aucun appareil n’a encore été synchronisé."

        msgid "First seen"
        msgstr "Première apparition"

        msgid "Last seen"
        msgstr "Dernière apparition"

        msgid "Uploads"
        msgstr "Envois"

        msgid "Why is an object missing on {{id}}?"
        msgstr "Pourquoi un objet manque-t-il sur {{id}} ?"

        # Packages/Server/AdminPanel/Templates/devices_why.mustache

        msgid "Why a device has an object, or doesn't have it. The answer comes from the gateway that the device is connected to, and from the same conditions that decide what the gateway sends."
        msgstr "Pourquoi un appareil a un objet, ou ne l’a pas. La réponse vient de la passerelle à laquelle l’appareil est connecté, et des conditions mêmes qui décident de ce que la passerelle envoie."

        msgid "Its id."
        msgstr "Son identifiant."

        msgid "An e-mail address or an id: asks about all devices of this user."
        msgstr "Une adresse e-mail ou un identifiant : la question porte sur tous les appareils de cet utilisateur."

        msgid "Or a single device: its id from the lists."
        msgstr "Ou un seul appareil : son identifiant d’après les listes."

        msgid "Property"
        msgstr "Propriété"

        msgid "If the device has the object, but lacks this property."
        msgstr "Si l’appareil a l’objet, mais sans cette propriété."

        msgid "Ask the gateways"
        msgstr "Interroger les passerelles"

        msgid "<1>{{.}}</1> of {{user}}: {{place}} <2>{{verdict}}</2>"
        msgstr "<1>{{.}}</1> ({{user}}) : {{place}} <2>{{verdict}}</2>"

        # Packages/Server/AdminPanel/Templates/document.mustache

        msgid "Full text"
        msgstr "Texte complet"

        msgid "Changes"
        msgstr "Modifications"

        msgid "Old"
        msgstr "Ancien"

        msgid "New"
        msgstr "Nouveau"

        msgid "Compare with version {{.}}"
        msgstr "Comparer à la version {{.}}"

        msgid "Text of the document"
        msgstr "Texte du document"

        # Packages/Server/AdminPanel/Templates/documents.mustache

        msgid "The models and rules that this server uses, with all earlier versions."
        msgstr "Les modèles et les règles que ce serveur utilise, avec toutes les versions antérieures."

        msgid "In use"
        msgstr "En service"

        msgid "Rules"
        msgstr "Règles"

        msgid "Change<1> the model and rules of {{name}}</1>"
        msgstr "Modifier<1> le modèle et les règles : {{name}}</1>"

        msgid "model"
        msgstr "modèle"

        msgid "To change models and rules here, set <1>{{.}}</1> and restart the server: see <2>docs/database-roles.md</2>."
        msgstr "Pour modifier ici les modèles et les règles, définissez <1>{{.}}</1> et redémarrez le serveur : voir <2>docs/database-roles.md</2>."

        msgid "Version"
        msgstr "Version"

        msgid "Stored"
        msgstr "Enregistrement"

        msgid "current"
        msgstr "actuelle"

        msgid "Compare with {{.}}"
        msgstr "Comparer à {{.}}"

        msgid "first version"
        msgstr "première version"

        msgid "Newer"
        msgstr "Plus récent"

        # Packages/Server/AdminPanel/Templates/edit.mustache

        msgid "Not saved:"
        msgstr "Non enregistré :"

        msgid "Nothing was saved:"
        msgstr "Rien n’a été enregistré :"

        msgid "Edit together with:"
        msgstr "Modifier en même temps :"

        msgid "Not in this form: {{.}}."
        msgstr "Absents de ce formulaire : {{.}}."

        msgid "Saved together with the fields above: all of it, or nothing."
        msgstr "Enregistré avec les champs ci-dessus : tout, ou rien."

        msgid "What you enter in the empty rows creates new {{pluralInSentence}}; rows that you leave empty are ignored."
        msgstr "Ce que vous saisissez dans les lignes vides crée de nouveaux objets ({{pluralInSentence}}) ; les lignes laissées vides sont ignorées."

        msgid "New ones can't be added here: they need {{.}}."
        msgstr "Ajout impossible ici, champs nécessaires : {{.}}."

        msgid "Only the first {{maximum}} are shown."
        msgstr "Seuls les {{maximum}} premiers sont affichés."

        msgid "List of all {{pluralInSentence}}"
        msgstr "Liste complète : {{pluralInSentence}}"

        msgid "There is nothing to edit."
        msgstr "Il n’y a rien à modifier."

        # Packages/Server/AdminPanel/Templates/failure.mustache

        msgid "What you entered"
        msgstr "Ce que vous avez saisi"

        msgid "None of this was saved: copy what you need."
        msgstr "Rien de tout cela n’a été enregistré : copiez ce dont vous avez besoin."

        msgid "Back to the overview"
        msgstr "Retour à la vue d’ensemble"

        msgid "Request {{requestID}}"
        msgstr "Requête {{requestID}}"

        # Packages/Server/AdminPanel/Templates/form_bytes.mustache

        msgid "Current: {{text}}"
        msgstr "Actuellement : {{text}}"

        msgid "Download"
        msgstr "Télécharger"

        msgid "Choose the file again: it wasn't saved."
        msgstr "Choisissez de nouveau le fichier : il n’a pas été enregistré."

        msgid "Up to {{megabytes}} MiB. A new file replaces the current one."
        msgstr "Jusqu’à {{megabytes}} Mio. Un nouveau fichier remplace l’actuel."

        msgid "Remove the {{label}}"
        msgstr "Supprimer : {{label}}"

        # Packages/Server/AdminPanel/Templates/form_group.mustache

        msgid "Remove {{label}}"
        msgstr "Supprimer : {{label}}"

        msgid "Add {{label}}"
        msgstr "Ajouter : {{label}}"

        # Packages/Server/AdminPanel/Templates/form_list.mustache

        msgid "Up: {{title}}"
        msgstr "Monter : {{title}}"

        msgid "Up"
        msgstr "Monter"

        msgid "Down: {{title}}"
        msgstr "Descendre : {{title}}"

        msgid "Down"
        msgstr "Descendre"

        msgid "Remove: {{title}}"
        msgstr "Supprimer : {{title}}"

        msgid "Add to {{label}}"
        msgstr "Ajouter à « {{label}} »"

        msgid "A form can have at most {{maximum}} of them."
        msgstr "Un formulaire peut en contenir au plus {{maximum}}."

        msgid "Add<1> to {{label}}</1>"
        msgstr "Ajouter<1> à « {{label}} »</1>"

        msgid "Add one<1> to {{label}}</1>"
        msgstr "Ajouter un élément<1> à « {{label}} »</1>"

        # Packages/Server/AdminPanel/Templates/help.mustache

        msgid "Keys"
        msgstr "Raccourcis clavier"

        msgid "Everything works with Tab, Enter and the space bar, and without JavaScript. With JavaScript, these keys work while you aren't typing in a field:"
        msgstr "Tout fonctionne avec Tab, Entrée et la barre d’espace, et sans JavaScript. Avec JavaScript, ces touches fonctionnent tant que vous n’écrivez pas dans un champ :"

        msgid "goes to the search field of a list"
        msgstr "va au champ de recherche d’une liste"

        msgid "<1>g</1> then <2>o</2>"
        msgstr "<1>g</1> puis <2>o</2>"

        msgid "opens the overview"
        msgstr "ouvre la vue d’ensemble"

        msgid "<1>g</1> then <2>h</2>"
        msgstr "<1>g</1> puis <2>h</2>"

        msgid "opens this page"
        msgstr "ouvre cette page"

        msgid "go to the next or the previous row of a list; Enter opens it"
        msgstr "vont à la ligne suivante ou précédente d’une liste ; Entrée l’ouvre"

        msgid "ticks or unticks the row"
        msgstr "coche ou décoche la ligne"

        msgid "open the next or the previous page of a list"
        msgstr "ouvrent la page suivante ou précédente d’une liste"

        msgid "opens the form of a record"
        msgstr "ouvre le formulaire d’un objet"

        msgid "Switch the keys off"
        msgstr "Désactiver les raccourcis clavier"

        msgid "Addresses"
        msgstr "Adresses"

        msgid "What a list shows is in its address: search, filters, order, columns and page. Keep it as a bookmark, or send it to a colleague, who sees what their own roles let them see."
        msgstr "Ce qu’une liste affiche se trouve dans son adresse : recherche, filtres, ordre, colonnes et page. Gardez-la en signet, ou envoyez-la à un collègue, qui verra ce que ses propres rôles lui permettent de voir."

        msgid "Your session"
        msgstr "Votre session"

        msgid "You are logged out after {{idleHours}} hours of inactivity, and at the latest {{hours}} hours after you logged in. Before anything that can't be undone, you are asked for your password again, unless you entered it in the last {{minutes}} minutes. Forms that are open in other windows must be reloaded after that."
        msgstr "La session se ferme après {{idleHours}} heures d’inactivité, et au plus tard {{hours}} heures après la connexion. Avant toute action irréversible, votre mot de passe vous est redemandé, sauf si vous l’avez saisi au cours des {{minutes}} dernières minutes. Les formulaires ouverts dans d’autres fenêtres doivent ensuite être rechargés."

        # Packages/Server/AdminPanel/Templates/history.mustache

        msgid "<1>To the record</1>. Lists and secret values can't be put back. Putting something back is a change like any other: your own permissions apply, and it appears in this history."
        msgstr "<1>Vers l’objet</1>. Les listes et les valeurs secrètes ne peuvent pas être rétablies. Rétablir est une modification comme une autre : vos propres autorisations s’appliquent, et elle apparaît dans cet historique."

        msgid "<1>{{time}}</1> UTC: {{headline}}"
        msgstr "<1>{{time}}</1> UTC : {{headline}}"

        msgid "(list {{list}})"
        msgstr "(liste {{list}})"

        msgid "Reason: {{.}}"
        msgstr "Motif : {{.}}"

        msgid "Before"
        msgstr "Avant"

        msgid "After"
        msgstr "Après"

        msgid "Put back"
        msgstr "Rétablir"

        msgid "Put back<1> {{label}} as it was before {{time}}</1>"
        msgstr "Rétablir<1> {{label}} dans l’état d’avant le {{time}}</1>"

        msgid "Undo this change<1> of {{time}}</1>"
        msgstr "Défaire cette modification<1> du {{time}}</1>"

        msgid "Put back this version<1> of {{time}}</1>"
        msgstr "Rétablir cette version<1> du {{time}}</1>"

        msgid "Create it again<1> as it was until {{time}}</1>"
        msgstr "Recréer<1> dans l’état d’avant le {{time}}</1>"

        msgid "The log has no changes to this object that you may see."
        msgstr "Le journal ne contient aucune modification de cet objet que vous puissiez voir."

        msgid "Pages of the history"
        msgstr "Pages de l’historique"

        # Packages/Server/AdminPanel/Templates/import.mustache

        msgid "CSV cells are separated by"
        msgstr "Les cellules du CSV sont séparées par"

        msgid "File"
        msgstr "Fichier"

        msgid "CSV with a header, a JSON array, or JSON lines; up to {{megabytes}} MiB. Save an Excel workbook as CSV UTF-8 first. Exported files can be imported as they are."
        msgstr "CSV avec un en-tête, un tableau JSON ou JSON Lines ; jusqu’à {{megabytes}} Mio. Enregistrez d’abord un classeur Excel au format CSV UTF-8. Ce qu’un export a écrit peut être importé tel quel."

        msgid "Upload the file"
        msgstr "Envoyer le fichier"

        msgid "Back to {{plural}}"
        msgstr "Retour : {{plural}}"

        msgid "Nothing is imported yet: the next page shows the columns, and what would happen."
        msgstr "Rien n’est encore importé : la page suivante montre les colonnes, et ce qui se passerait."

        # Packages/Server/AdminPanel/Templates/import_file.mustache

        msgid "{{file}}: {{rows}}. Nothing is imported yet."
        msgstr "{{file}} : {{rows}}. Rien n’est encore importé."

        msgid "What the columns become"
        msgstr "Ce que deviennent les colonnes"

        msgid "Column"
        msgstr "Colonne"

        msgid "Becomes"
        msgstr "Devient"

        msgid "First values"
        msgstr "Premières valeurs"

        msgid "nothing"
        msgstr "rien"

        msgid "What to do"
        msgstr "Que faire"

        msgid "A row matches the object with the same"
        msgstr "Une ligne désigne l’objet qui a la même valeur de"

        msgid "Keep the <1>'</1> before <2>=</2>, <3>+</3>, <4>-</4> and <5>@</5>: it belongs to the text"
        msgstr "Garder le <1>'</1> devant <2>=</2>, <3>+</3>, <4>-</4> et <5>@</5> : il fait partie du texte"

        msgid "Show what would happen"
        msgstr "Montrer ce qui se passerait"

        msgid "Columns that aren't imported:"
        msgstr "Colonnes non importées :"

        msgid "Why"
        msgstr "Pourquoi"

        msgid "These are the first ones."
        msgstr "Ce sont les premières."

        msgid "The first rows, as they would be stored"
        msgstr "Les premières lignes, telles qu’elles seraient enregistrées"

        msgid "Values"
        msgstr "Valeurs"

        msgid "See the list of errors"
        msgstr "Voir la liste des erreurs"

        msgid "All or nothing: if one row is refused, none is imported (up to 500 rows)"
        msgstr "Tout ou rien : si une ligne est refusée, aucune n’est importée (jusqu’à 500 lignes)"

        msgid "The import runs in the background, even if you close this page. The job's page shows its progress, and has a button to undo it."
        msgstr "L’import continue tout seul, même si vous fermez cette page. La page de la tâche montre son avancement, et permet de la défaire."

        msgid "Start the import"
        msgstr "Lancer l’import"

        msgid "Discard the file"
        msgstr "Abandonner le fichier"

        # Packages/Server/AdminPanel/Templates/invitation.mustache

        msgid "{{invites}} The invitation is valid until {{until}}, for the address it was made for."
        msgstr "{{invites}} L’invitation est valable jusqu’au {{until}}, pour l’adresse à laquelle elle est destinée."

        msgid "Log in to accept"
        msgstr "Se connecter pour accepter"

        msgid "Accept with your account"
        msgstr "Accepter avec votre compte"

        msgid "Create an account to accept"
        msgstr "Créer un compte pour accepter"

        msgid "Your name"
        msgstr "Votre nom"

        msgid "A password for your account"
        msgstr "Un mot de passe pour votre compte"

        msgid "Create an account and accept"
        msgstr "Créer un compte et accepter"

        msgid "No account yet? Ask the person who invited you to create one: you can only do that yourself with a mailed invitation."
        msgstr "Vous n’avez pas encore de compte ? Demandez-en un à la personne qui vous invite : l’invitation n’a pas été envoyée par e-mail, elle ne permet donc pas d’en créer un."

        msgid "You entered the name {{.}}."
        msgstr "Vous avez saisi le nom {{.}}."

        # Packages/Server/AdminPanel/Templates/invitation_accept.mustache

        msgid "You are logged in as {{email}}."
        msgstr "Vous utilisez le compte {{email}}."

        msgid "The invitation is for another address: log out, and log in with the account that has it."
        msgstr "L’invitation est destinée à une autre adresse : déconnectez-vous, puis reconnectez-vous avec le compte qui a cette adresse."

        msgid "You can only accept an invitation that was made for this address."
        msgstr "Vous ne pouvez accepter qu’une invitation destinée à cette adresse."

        msgid "Accept the invitation"
        msgstr "Accepter l’invitation"

        msgid "Not now"
        msgstr "Pas maintenant"

        # Packages/Server/AdminPanel/Templates/invitation_joined.mustache

        msgid "Your account has the role {{role}}."
        msgstr "Votre compte a le rôle {{role}}."

        # Packages/Server/AdminPanel/Templates/job.mustache

        msgid "Progress"
        msgstr "Avancement"

        msgid "Undo…"
        msgstr "Défaire…"

        msgid "New values"
        msgstr "Nouvelles valeurs"

        msgid "Filters"
        msgstr "Filtres"

        msgid "If it's interrupted"
        msgstr "En cas d’interruption"

        msgid "Results: {{.}}"
        msgstr "Résultats : {{.}}"

        msgid "Results"
        msgstr "Résultats"

        msgid "Table of results"
        msgstr "Tableau des résultats"

        msgid "In the file"
        msgstr "Dans le fichier"

        msgid "Reason"
        msgstr "Motif"

        msgid "There are no results here."
        msgstr "Il n’y a pas de résultats ici."

        # Packages/Server/AdminPanel/Templates/job_undo.mustache

        msgid "{{touches}} Anything changed since then stays as it is, and the new job's page lists it."
        msgstr "{{touches}} Ce que quelqu’un a modifié depuis reste tel quel, et la page de la nouvelle tâche l’indique."

        msgid "Undo this job"
        msgstr "Défaire cette tâche"

        # Packages/Server/AdminPanel/Templates/jobs.mustache

        msgid "Your long-running work: changes of many objects, imports, and undoing them. Jobs run in the background, and are kept for 30 days."
        msgstr "Vos travaux de longue durée : modifications de nombreux objets, imports, et tâches qui les défont. Les tâches s’exécutent en arrière-plan, et sont conservées 30 jours."

        msgid "You have no jobs. Tick rows in a list, or choose all that match, to change many objects at once."
        msgstr "Vous n’avez pas de tâches. Cochez des lignes dans une liste, ou choisissez toutes celles qui correspondent, pour modifier de nombreux objets à la fois."

        msgid "Job"
        msgstr "Tâche"

        msgid "Objects"
        msgstr "Objets"

        # Packages/Server/AdminPanel/Templates/kept_delete.mustache

        msgid "<1>This can't be undone.</1> The database {{name}} is deleted with everything in it. The database in use and all backups stay."
        msgstr "<1>Cette action est irréversible.</1> La base de données {{name}} est supprimée avec tout ce qu’elle contient. Celle qui est utilisée reste, les sauvegardes aussi."

        msgid "Delete the database"
        msgstr "Supprimer la base de données"

        # Packages/Server/AdminPanel/Templates/layout.mustache

        msgid "{{title}} – Tombolo"
        msgstr "{{title}} – Tombolo"

        msgid "Skip to the content"
        msgstr "Aller au contenu"

        msgid "You are viewing the panel as <1>{{name}}</1>. You can't change anything, and what you view is logged."
        msgstr "Vous voyez le panneau en tant que <1>{{name}}</1>. Vous ne pouvez rien modifier, et ce que vous consultez est journalisé."

        msgid "Stop viewing"
        msgstr "Quitter l’affichage"

        msgid "Tombolo"
        msgstr "Tombolo"

        msgid "Logged in as"
        msgstr "Compte connecté :"

        msgid "Colours"
        msgstr "Couleurs"

        msgid "Language"
        msgstr "Langue"

        msgid "Apply"
        msgstr "Appliquer"

        msgid "Change password"
        msgstr "Modifier le mot de passe"

        msgid "Log out"
        msgstr "Se déconnecter"

        msgid "Panel"
        msgstr "Panneau"

        msgid "Menu"
        msgstr "Menu"

        msgid "Where you are"
        msgstr "Où vous êtes"

        # Packages/Server/AdminPanel/Templates/list.mustache

        msgid "New {{singular}}"
        msgstr "Créer : {{singular}}"

        msgid "Edit these rows"
        msgstr "Modifier ces lignes"

        msgid "Import"
        msgstr "Importer"

        msgid "Filter"
        msgstr "Filtrer"

        msgid "Test"
        msgstr "Test"

        msgid "Value"
        msgstr "Valeur"

        msgid "For a link, enter the title of the linked object. Separate several values with commas. Times are in UTC."
        msgstr "Pour un lien, le titre de ce vers quoi il mène. Plusieurs valeurs séparées par des virgules. Les heures sont en UTC."

        msgid "Add the filter"
        msgstr "Ajouter le filtre"

        msgid "Counts"
        msgstr "Nombres"

        msgid "Counting takes too long here. Search or filter to narrow the list."
        msgstr "Le comptage est trop long ici. Restreignez la recherche ou les filtres."

        msgid "Hide counts"
        msgstr "Masquer les nombres"

        msgid "Show counts"
        msgstr "Afficher les nombres"

        msgid "Columns"
        msgstr "Colonnes"

        msgid "Columns to show"
        msgstr "Colonnes à afficher"

        msgid "Show these"
        msgstr "Les afficher"

        msgid "Views"
        msgstr "Vues"

        msgid "Delete<1> the view {{name}}</1>"
        msgstr "Supprimer<1> la vue {{name}}</1>"

        msgid "Save this list as"
        msgstr "Enregistrer cette liste sous"

        msgid "Save the view"
        msgstr "Enregistrer la vue"

        msgid "Export"
        msgstr "Exporter"

        msgid "All rows of this list, on all of its pages, with its search, filters and order. All fields are included unless you have chosen columns."
        msgstr "Toutes les lignes de cette liste, sur toutes ses pages, avec sa recherche, ses filtres et son ordre. Tous les champs sont inclus, sauf si vous avez choisi des colonnes."

        msgid "Format"
        msgstr "Format"

        msgid "Add the titles of linked objects"
        msgstr "Ajouter les titres des objets liés"

        msgid "Programs can read it through the <1>API</1>."
        msgstr "Les programmes la lisent par l’<1>API</1>."

        msgid "Rows"
        msgstr "Lignes"

        msgid "Remove the filter: {{text}}"
        msgstr "Retirer le filtre : {{text}}"

        msgid "Remove all"
        msgstr "Tout retirer"

        msgid "{{plural}}: {{from}}–{{to}} of {{total}}"
        msgstr "{{plural}} : {{from}}–{{to}} sur {{total}}"

        msgid "Tick all on this page"
        msgstr "Tout cocher sur cette page"

        msgid "Tick"
        msgstr "Cocher"

        msgid "Tick {{title}}"
        msgstr "Cocher {{title}}"

        msgid "Change several"
        msgstr "Modification groupée"

        msgid "Apply to"
        msgstr "Appliquer à"

        msgid "the ticked ones"
        msgstr "les lignes cochées"

        msgid "all {{count}} on this page"
        msgstr "toutes les lignes de cette page ({{count}})"

        msgid "First"
        msgstr "Première"

        msgid "Page {{page}} of {{.}}"
        msgstr "Page {{page}} sur {{.}}"

        msgid "Last"
        msgstr "Dernière"

        msgid "No {{pluralInSentence}} match. <1>Show all</1>, or search for something else."
        msgstr "Aucun résultat ({{pluralInSentence}}). <1>Tout afficher</1>, ou chercher autre chose."

        msgid "There are no {{pluralInSentence}} yet, or none that you may see."
        msgstr "Il n’y a encore rien ici ({{pluralInSentence}}), ou rien que vous puissiez voir."

        # Packages/Server/AdminPanel/Templates/login_code.mustache

        msgid "You are logging in as {{email}}."
        msgstr "Connexion avec {{email}}."

        msgid "Code from your authenticator app"
        msgstr "Code de votre application d’authentification"

        msgid "Six digits. If you don't have your phone, use a recovery code."
        msgstr "Six chiffres. Si vous n’avez pas votre téléphone, utilisez un code de récupération."

        # Packages/Server/AdminPanel/Templates/model_change.mustache

        msgid "What has changed in the meantime"
        msgstr "Ce qui a été modifié entre-temps"

        msgid "Nothing here changes anything yet. The next page shows what would happen, and asks for your password."
        msgstr "Rien n’est encore modifié ici. La page suivante montre ce qui se passerait, et demande votre mot de passe."

        msgid "Usual changes"
        msgstr "Modifications courantes"

        msgid "Each button edits the text of the model below."
        msgstr "Chaque bouton modifie le texte du modèle ci-dessous."

        msgid "Add a class"
        msgstr "Ajouter une classe"

        msgid "As in Swift, such as Boat. The class gets its own primary key."
        msgstr "Comme dans Swift, par exemple Boat. La classe reçoit sa propre clé."

        msgid "Deleted objects go to the trash"
        msgstr "Les objets supprimés vont dans la corbeille"

        msgid "It's embedded: its objects live inside others"
        msgstr "Elle est imbriquée : ses objets sont contenus dans d’autres"

        msgid "Add the class"
        msgstr "Ajouter la classe"

        msgid "Add a property"
        msgstr "Ajouter une propriété"

        msgid "Choose a class"
        msgstr "Choisissez une classe"

        msgid "It may be nil. Links and embedded objects always may be, lists never."
        msgstr "Elle peut être nil. Les liens et les objets imbriqués le peuvent toujours, les listes jamais."

        msgid "With an index, for filters and sorting"
        msgstr "Avec un index, pour filtrer et trier"

        msgid "Possible values"
        msgstr "Valeurs possibles"

        msgid "One per line, for an enumeration. Leave it empty to allow all values."
        msgstr "Une par ligne, pour une énumération. Laissez vide si toutes sont possibles."

        msgid "Hint"
        msgstr "Indication"

        msgid "What people should know before they enter a value, such as its unit."
        msgstr "Ce qu’il faut savoir avant de saisir une valeur, par exemple son unité."

        msgid "Add the property"
        msgstr "Ajouter la propriété"

        msgid "Rename a property"
        msgstr "Renommer une propriété"

        msgid "Choose a property"
        msgstr "Choisissez une propriété"

        msgid "New name"
        msgstr "Nouveau nom"

        msgid "The values stay. Older versions of the app keep using the old name."
        msgstr "Les valeurs restent. Les anciennes versions de l’application continuent avec l’ancien nom."

        msgid "Rename the property"
        msgstr "Renommer la propriété"

        msgid "Drop a class or a property"
        msgstr "Retirer une classe ou une propriété"

        msgid "Class or property"
        msgstr "Classe ou propriété"

        msgid "Choose what to drop"
        msgstr "Choisissez ce qui doit être retiré"

        msgid "It is retired: the table or the column stays for older versions of the app."
        msgstr "Elle est mise hors service : la table ou la colonne reste pour les anciennes versions de l’application."

        msgid "Drop it"
        msgstr "Retirer"

        msgid "Text of the model"
        msgstr "Texte du modèle"

        msgid "JSON, as described in <1>docs/model-documents.md</1>. What you leave out is retired."
        msgstr "JSON, comme décrit dans <1>docs/model-documents.md</1>. Ce que vous omettez est mis hors service."

        msgid "A file instead of this text"
        msgstr "Un fichier à la place de ce texte"

        msgid "Text of the rules"
        msgstr "Texte des règles"

        msgid "YAML or JSON, as described in <1>docs/rules.md</1>. They apply exactly as they stand here, including the boxes of the permission matrix. Nobody sees a new class until it has rules."
        msgstr "YAML ou JSON, comme décrit dans <1>docs/rules.md</1>. Elles valent telles qu’elles figurent ici, avec les cases de la matrice d’autorisations. Personne ne voit une nouvelle classe sans règles pour elle."

        # Packages/Server/AdminPanel/Templates/model_plan.mustache

        msgid "Nothing has been changed yet."
        msgstr "Rien n’a encore été modifié."

        msgid "Consequences for others"
        msgstr "Ce qui pourrait manquer à d’autres"

        msgid "No values are deleted. Your own SQL, views, functions and services stop working if they use an old name."
        msgstr "Aucune valeur n’est supprimée. Vos requêtes SQL, vues, fonctions et services qui emploient un ancien nom cesseront de fonctionner."

        msgid "The database already has all of this: there is nothing to do."
        msgstr "La base de données a déjà tout cela : il n’y a rien à faire."

        msgid "Steps"
        msgstr "Étapes"

        msgid "All of it happens in one transaction: if anything fails, nothing is changed."
        msgstr "Tout se passe dans une seule transaction : si quelque chose échoue, rien n’est modifié."

        msgid "Some steps run outside a transaction, so that others can keep writing. If anything fails after one of them, the finished steps stay in the database, but the new model doesn't take effect. Applying it again continues from there."
        msgstr "Certaines étapes se font en dehors d’une transaction, pour que d’autres puissent continuer à écrire. Si quelque chose échoue après l’une d’elles, ce qui était terminé reste dans la base de données, et le nouveau modèle ne compte pas. Appliquer de nouveau la même chose reprend à cet endroit."

        msgid "These tables are locked while the transaction runs, and others have to wait. The transaction itself waits up to {{lockSeconds}} seconds for each table, then gives up."
        msgstr "Ces tables sont verrouillées pendant la transaction, et les autres attendent. Elle-même attend chacune {{lockSeconds}} secondes, puis abandonne."

        msgid "{{name}} (outside a transaction)"
        msgstr "{{name}} (en dehors d’une transaction)"

        msgid "SQL of the step"
        msgstr "SQL de l’étape"

        msgid "Remarks"
        msgstr "Remarques"

        msgid "{{title}}: lines"
        msgstr "{{title}} : lignes"

        msgid "Tick this first: nothing was done."
        msgstr "Cochez d’abord cette case : rien n’a été fait."

        msgid "I have read the consequences for others"
        msgstr "J’ai lu ce qui pourrait manquer à d’autres"

        msgid "Back to the text"
        msgstr "Retour au texte"

        # Packages/Server/AdminPanel/Templates/model_run.mustache

        msgid "This server hasn't changed any model since it was started."
        msgstr "Ce serveur n’a modifié aucun modèle depuis son démarrage."

        msgid "What was stored is in the <1>history of the documents</1>."
        msgstr "Ce qui a été enregistré figure dans l’<1>historique des documents</1>."

        msgid "It continues even if you close this page."
        msgstr "L’opération continue si vous fermez cette page."

        msgid "The documents are unchanged, unless the history has a newer version. Finished steps that ran outside a transaction stay."
        msgstr "Les documents sont tels qu’ils étaient, sauf si l’historique a une version plus récente. Parmi les étapes que le plan prévoit en dehors d’une transaction, celles qui étaient terminées restent."

        msgid "All servers use it within a second or two. Its version is in the <1>history of the documents</1>."
        msgstr "Tous les serveurs l’utilisent d’ici une ou deux secondes. Sa version figure dans l’<1>historique des documents</1>."

        msgid "What is left to do in Swift"
        msgstr "Ce qui reste à faire en Swift"

        msgid "The app's classes don't have this change yet. Installed apps continue as they are."
        msgstr "Les classes de l’application ne connaissent pas encore cette modification. Les applications installées continuent telles quelles."

        msgid "Download <1>the model as it is now</1>, and change the classes to match. A renamed property declares its old name in <2>previousPropertyNames()</2>."
        msgstr "Téléchargez <1>le modèle actuel</1>, et modifiez les classes en conséquence. Une propriété renommée déclare son ancien nom dans <2>previousPropertyNames()</2>."

        msgid "Export the document from the classes, and compare it with the download."
        msgstr "Exportez le document depuis les classes, et comparez-le à celui que vous avez téléchargé."

        msgid "Apply it with <1>migration-tool apply</1>. From then on, the classes are the source again."
        msgstr "Appliquez-le avec <1>migration-tool apply</1>. Dès lors, les classes font de nouveau référence."

        msgid "Until then, <1>migration-tool apply</1> with an older document keeps the classes and properties that were added here, and says so. It refuses the old names of anything renamed here. Everything else becomes what the document says, and the tool lists what it reverts."
        msgstr "D’ici là, <1>migration-tool apply</1> avec un document plus ancien conserve les classes et les propriétés ajoutées ici, et le signale. Il refuse l’ancien nom de ce qui a été renommé ici. Tout le reste vaut tel que le document l’indique, et l’outil nomme ce qu’il annule."

        msgid "Download the rules as they are now"
        msgstr "Télécharger les règles actuelles"

        # Packages/Server/AdminPanel/Templates/new-password.mustache

        msgid "New password"
        msgstr "Nouveau mot de passe"

        msgid "At least {{minimum}} characters. Don't use a common password, or one made from your name."
        msgstr "Au moins {{minimum}} caractères. N’utilisez pas un mot de passe courant, ni un mot de passe tiré de votre nom."

        msgid "New password again"
        msgstr "Confirmer le nouveau mot de passe"

        # Packages/Server/AdminPanel/Templates/overview.mustache

        msgid "Needs attention"
        msgstr "Demande votre attention"

        msgid "There is nothing here that you may see. Ask an administrator for a role."
        msgstr "Il n’y a rien ici que vous puissiez voir. Demandez un rôle à un administrateur."

        msgid "In the trash"
        msgstr "Dans la corbeille"

        # Packages/Server/AdminPanel/Templates/password.mustache

        msgid "What you are about to do can't be undone, or changes who may do what. It requires your password if you last entered it more than {{minutes}} minutes ago."
        msgstr "Ce que vous allez faire est irréversible, ou change qui peut faire quoi. Votre mot de passe est demandé si vous l’avez saisi pour la dernière fois il y a plus de {{minutes}} minutes."

        msgid "Code from your authenticator app, or a recovery code"
        msgstr "Code de votre application d’authentification, ou code de récupération"

        # Packages/Server/AdminPanel/Templates/password_change.mustache

        msgid "Changing your password ends all your other logins, on other computers and on devices that sync."
        msgstr "Modifier votre mot de passe ferme toutes vos autres sessions, sur d’autres ordinateurs et sur les appareils synchronisés."

        msgid "Current password"
        msgstr "Mot de passe actuel"

        msgid "Change the password"
        msgstr "Modifier le mot de passe"

        # Packages/Server/AdminPanel/Templates/password_forgotten.mustache

        msgid "If {{.}} has an account here, a mail with a link is on its way. The link is good for {{minutes}} minutes."
        msgstr "Si {{.}} a un compte ici, un e-mail avec un lien est en route. Le lien est valable {{minutes}} minutes."

        msgid "Enter the address that you log in with. We'll mail you a link to a page where you can set a new password."
        msgstr "Saisissez l’adresse avec laquelle vous vous connectez. Nous vous enverrons par e-mail un lien vers une page où vous pourrez définir un nouveau mot de passe."

        msgid "Send the mail"
        msgstr "Envoyer l’e-mail"

        msgid "This server doesn't send mail. Its operator can set a new password for you with <1>migration-tool user password</1>."
        msgstr "Ce serveur n’envoie pas d’e-mails. La personne qui l’exploite peut définir un nouveau mot de passe pour vous avec <1>migration-tool user password</1>."

        # Packages/Server/AdminPanel/Templates/password_reset.mustache

        msgid "All logins were ended, on other computers and on devices that sync. <1>Log in</1> with the new password."
        msgstr "Toutes les sessions ont été fermées, sur d’autres ordinateurs et sur les appareils synchronisés. <1>Connectez-vous</1> avec le nouveau mot de passe."

        msgid "Ask for another mail"
        msgstr "Demander un autre e-mail"

        msgid "Set the password"
        msgstr "Définir le mot de passe"

        # Packages/Server/AdminPanel/Templates/people.mustache

        msgid "Given by"
        msgstr "Attribué par"

        msgid "Nobody has a role here that you may see."
        msgstr "Personne n’a ici de rôle que vous puissiez voir."

        msgid "Table of people and their roles"
        msgstr "Tableau des personnes et de leurs rôles"

        msgid "Person"
        msgstr "Personne"

        msgid "Role"
        msgstr "Rôle"

        msgid "Remove…<1> ({{role}}, {{name}})</1>"
        msgstr "Supprimer…<1> ({{role}}, {{name}})</1>"

        msgid "Hand a role over"
        msgstr "Transmettre un rôle"

        msgid "New {{roleTitle}}"
        msgstr "Nouveau titulaire : {{roleTitle}}"

        msgid "Hand over the role {{roleTitle}}"
        msgstr "Transmettre le rôle {{roleTitle}}"

        msgid "The current holder becomes {{left}}."
        msgstr "Le titulaire actuel reçoit le rôle {{left}}."

        msgid "Invite somebody"
        msgstr "Inviter quelqu’un"

        msgid "Role to give"
        msgstr "Rôle à attribuer"

        msgid "Choose one"
        msgstr "Choisissez-en un"

        msgid "Invite"
        msgstr "Inviter"

        msgid "Open invitations"
        msgstr "Invitations en attente"

        msgid "Table of open invitations"
        msgstr "Tableau des invitations en attente"

        msgid "Sent"
        msgstr "Envoi"

        msgid "Expires"
        msgstr "Expiration"

        msgid "Send again<1> to {{email}}</1>"
        msgstr "Renvoyer<1> à {{email}}</1>"

        msgid "Revoke<1> the invitation of {{email}}</1>"
        msgstr "Révoquer<1> l’invitation pour {{email}}</1>"

        # Packages/Server/AdminPanel/Templates/people_invited.mustache

        msgid "This server doesn't send e-mail. Give this link to {{email}} yourself. It's shown only once, expires in 7 days, and works only for this address:"
        msgstr "Ce serveur n’envoie pas d’e-mails. Transmettez vous-même ce lien à {{email}}. Il n’est affiché qu’une fois, expire dans 7 jours et ne fonctionne que pour cette adresse :"

        msgid "They need an account with this address first, because a link that wasn't mailed can't create one."
        msgstr "Il faut d’abord un compte avec cette adresse, car un lien qui n’a pas été envoyé par e-mail ne permet pas d’en créer un."

        msgid "Back to People"
        msgstr "Retour aux personnes"

        # Packages/Server/AdminPanel/Templates/permission_box.mustache

        msgid "The box opens these pages of the panel:"
        msgstr "La case ouvre ces pages du panneau :"

        msgid "The change takes effect within a second, on every server and in every open sync session. It's stored as a new version of the rules, and can be reverted at any time."
        msgstr "La modification prend effet en une seconde, sur chaque serveur et dans chaque session de synchronisation ouverte. Elle est enregistrée comme une nouvelle version des règles, et il est possible de revenir en arrière à tout moment."

        # Packages/Server/AdminPanel/Templates/permissions.mustache

        msgid "What each role may do, within one object such as an event or everywhere. The classes' own rules may permit more."
        msgstr "Ce que chaque rôle peut faire, au sein d’un objet comme un événement, ou partout. Ce que permettent les règles propres aux classes s’y ajoute."

        msgid "Roles and services"
        msgstr "Rôles et services"

        msgid "Service"
        msgstr "Service"

        msgid "by its rules"
        msgstr "selon ses règles"

        msgid "<1>C</1> create, <2>R</2> read, <3>U</3> update, <4>D</4> delete; <5>–</5> not permitted."
        msgstr "<1>C</1> créer, <2>R</2> lire, <3>U</3> modifier, <4>D</4> supprimer ; <5>–</5> non autorisé."

        msgid "Choose a box to change it."
        msgstr "Choisissez une case pour la modifier."

        msgid "You can view this, but not change it."
        msgstr "Vous pouvez consulter ceci, mais pas le modifier."

        msgid "Add a role…"
        msgstr "Ajouter un rôle…"

        msgid "What users may do without a role"
        msgstr "Ce que les utilisateurs peuvent faire sans rôle"

        msgid "Permission"
        msgstr "Autorisation"

        msgid "The first group that a user matches applies. What a permission allows is defined in the rules."
        msgstr "Le premier groupe auquel un utilisateur correspond s’applique. Ce qu’une autorisation permet est défini dans les règles."

        # Packages/Server/AdminPanel/Templates/record.mustache

        msgid "Edit"
        msgstr "Modifier"

        msgid "Duplicate"
        msgstr "Dupliquer"

        msgid "Which devices have it?"
        msgstr "Quels appareils l’ont ?"

        msgid "{{text}} (you may not see it)"
        msgstr "{{text}} (non visible pour vous)"

        msgid "and {{.}} more"
        msgstr "et {{.}} de plus"

        msgid "Show on openstreetmap.org"
        msgstr "Afficher sur openstreetmap.org"

        msgid "What links here"
        msgstr "Ce qui mène ici"

        msgid "Edit {{plural}} in one form"
        msgstr "Modifier dans un même formulaire : {{plural}}"

        msgid "Edit {{plural}} with this {{parent}}"
        msgstr "Modifier avec cet objet ({{parent}}) : {{plural}}"

        # Packages/Server/AdminPanel/Templates/recovery_codes.mustache

        msgid "The second factor is on."
        msgstr "Le second facteur est activé."

        msgid "Your earlier recovery codes no longer work."
        msgstr "Vos anciens codes de récupération ne fonctionnent plus."

        msgid "If you don't have your phone, each of these logs you in once, instead of the app's code. Print them or write them down: <1>they aren't shown again.</1>"
        msgstr "Si vous n’avez pas votre téléphone, chacun de ces codes vous connecte une fois, à la place du code de l’application. Imprimez-les ou notez-les : <1>ils ne seront plus affichés.</1>"

        # Packages/Server/AdminPanel/Templates/removal.mustache

        msgid "{{title}} goes into the trash. {{restorable}}"
        msgstr "{{title}} ira dans la corbeille. {{restorable}}"

        msgid "These belong to it, and go into the trash too:"
        msgstr "Ces objets en font partie, et iront aussi dans la corbeille :"

        msgid "Nothing else goes into the trash."
        msgstr "Rien d’autre n’ira dans la corbeille."

        msgid "The app would keep it in the trash, so it can't be deleted permanently for now: {{.}}"
        msgstr "L’application le garderait pour l’instant dans la corbeille, sans suppression définitive possible : {{.}}"

        msgid "{{title}} will be deleted permanently, because its class has no trash. This can't be undone."
        msgstr "Suppression définitive : {{title}}. La classe n’a pas de corbeille, cette action est irréversible."

        msgid "These link to it. They lose the link, or are deleted too:"
        msgstr "Ces objets y sont liés. Ils perdront le lien, ou seront supprimés aussi :"

        msgid "Move to trash"
        msgstr "Mettre à la corbeille"

        # Packages/Server/AdminPanel/Templates/requests.mustache

        msgid "Which servers and time"
        msgstr "Quels serveurs et quelle période"

        msgid "Requests to this server process since it started: the last {{kept}}, and the last slow, refused and failed ones. Requests are grouped by route; the values in addresses and query strings are not kept."
        msgstr "Les requêtes reçues par ce processus serveur depuis son démarrage : les {{kept}} dernières, et les dernières requêtes lentes, refusées ou en échec. Elles sont regroupées par route ; les valeurs contenues dans les adresses et les chaînes de requête ne sont pas conservées."

        msgid "Requests to all admin servers, as long as they are kept. Requests are grouped by route; the values in addresses and query strings are not kept."
        msgstr "Les requêtes reçues par tous les serveurs d’administration, tant qu’elles sont conservées. Elles sont regroupées par route ; les valeurs contenues dans les adresses et les chaînes de requête ne sont pas conservées."

        msgid "{{summary}} The busiest minute had {{top}}."
        msgstr "{{summary}} Maximum en une minute : {{top}}."

        msgid "{{summary}} The busiest hour had {{top}}."
        msgstr "{{summary}} Maximum en une heure : {{top}}."

        msgid "{{summary}} The busiest day had {{top}}."
        msgstr "{{summary}} Maximum en un jour : {{top}}."

        msgid "Which requests"
        msgstr "Quelles requêtes"

        msgid "Method"
        msgstr "Méthode"

        msgid "Route begins with"
        msgstr "La route commence par"

        msgid "IP address"
        msgstr "Adresse IP"

        msgid "Id of the request"
        msgstr "Identifiant de la requête"

        msgid "Server"
        msgstr "Serveur"

        msgid "Route"
        msgstr "Route"

        msgid "Status"
        msgstr "Statut"

        msgid "Request"
        msgstr "Requête"

        msgid "A request that takes {{slowSeconds}} second or longer is slow. The server's log has each request by its id."
        msgstr "Une requête qui dure {{slowSeconds}} s ou plus est lente. Le journal du serveur contient chaque requête sous son identifiant."

        msgid "Newest"
        msgstr "Les plus récentes"

        # Packages/Server/AdminPanel/Templates/restore.mustache

        msgid "It can't be restored now. {{.}}"
        msgstr "La restauration n’est pas possible pour le moment. {{.}}"

        msgid "Back"
        msgstr "Retour"

        msgid "Everything returns to the state it was in when the backup was made."
        msgstr "Tout redevient comme au moment de la sauvegarde."

        msgid "Everything returns to the state it was in when this database was put aside."
        msgstr "Tout redevient comme au moment où cette base de données a été mise de côté."

        msgid "That was <1>{{relative}}</1>."
        msgstr "C’était <1>{{relative}}</1>."

        msgid "The current database is put aside. You can bring it back here."
        msgstr "La base de données utilisée actuellement est mise de côté. Vous pouvez la rétablir ici."

        msgid "The server stays available until the new database is filled."
        msgstr "Jusqu’à ce que la nouvelle base de données soit remplie, tout continue."

        msgid "When the databases are swapped, requests in progress fail, and people may have to log in again. You may have to, too."
        msgstr "Quand les bases de données échangent leurs places, les requêtes en cours échouent, et chacun devra peut-être se reconnecter, vous aussi."

        msgid "Accounts, passwords, roles, API keys and logins are reverted too: anyone who has lost access since then gets it back."
        msgstr "Les comptes, mots de passe, rôles, clés d’API et connexions redeviennent aussi comme avant : qui a perdu l’accès depuis l’a de nouveau."

        msgid "Devices that have later changes start over. They then upload what they hadn't uploaded yet."
        msgstr "Les appareils qui connaissent des modifications ultérieures recommencent de zéro. Ce qu’ils n’ont pas encore envoyé, ils l’envoient alors."

        msgid "Jobs that were running at that time continue."
        msgstr "Les tâches qui étaient alors en cours se poursuivent."

        msgid "Restore the backup"
        msgstr "Restaurer la sauvegarde"

        msgid "Bring the database back"
        msgstr "Rétablir la base de données"

        # Packages/Server/AdminPanel/Templates/role.mustache

        msgid "Who has it"
        msgstr "Qui l’a"

        msgid "Rename it"
        msgstr "Le renommer"

        msgid "Letters, digits, - and _. People who have the role keep it, and open invitations stay valid."
        msgstr "Lettres, chiffres, - et _. Les personnes qui ont le rôle le gardent, et les invitations en attente restent valables."

        msgid "Rename"
        msgstr "Renommer"

        msgid "Remove it"
        msgstr "Le supprimer"

        msgid "Its permissions are removed too, and open invitations to it are revoked."
        msgstr "Ses autorisations seront supprimées aussi, et les invitations en attente pour ce rôle seront révoquées."

        msgid "Remove the role {{name}}"
        msgstr "Supprimer le rôle {{name}}"

        # Packages/Server/AdminPanel/Templates/role_new.mustache

        msgid "Nobody has a new role until it's given to them. Its permissions can be changed at any time."
        msgstr "Personne n’a un nouveau rôle tant qu’il n’a pas été attribué. Ses autorisations peuvent être modifiées à tout moment."

        msgid "Letters, digits, - and _; it begins with a letter."
        msgstr "Lettres, chiffres, - et _ ; il commence par une lettre."

        msgid "It applies"
        msgstr "Il s’applique"

        msgid "within one object, such as an event"
        msgstr "au sein d’un objet, comme un événement"

        msgid "Boxes"
        msgstr "Cases"

        msgid "C create, R read, U update, D delete. Anyone who may change objects may also read them."
        msgstr "C créer, R lire, U modifier, D supprimer. Qui peut modifier des objets peut aussi les lire."

        msgid "Add the role"
        msgstr "Ajouter le rôle"

        # Packages/Server/AdminPanel/Templates/routes.mustache

        msgid "What a caller with a single role gets from this server, worked out from the routes and the current rules. Own only: for some objects, such as those of their events, their own, or published ones."
        msgstr "Ce qu’un appelant ayant un seul rôle obtient de ce serveur, déduit des routes et des règles actuelles. Les siens : pour certains objets, comme ceux de ses événements, les siens propres ou ceux qui sont publiés."

        # Packages/Server/AdminPanel/Templates/rows.mustache

        msgid "{{saved}} Not saved:"
        msgstr "{{saved}} Non enregistré :"

        msgid "Filtered by: {{filters}}."
        msgstr "Filtres : {{filters}}."

        msgid "Each row is saved separately, unless somebody has changed it in the meantime."
        msgstr "Chaque ligne est enregistrée séparément, sauf si quelqu’un l’a modifiée entre-temps."

        msgid "Only the first {{maximum}} rows of the page are shown."
        msgstr "Seules les {{maximum}} premières lignes de la page sont affichées."

        msgid "What you enter in the rows below them creates new objects; rows that you leave empty are ignored."
        msgstr "Ce que vous saisissez dans les lignes situées au-dessous crée de nouveaux objets ; les lignes laissées vides sont ignorées."

        msgid "To add rows here, show these columns first: {{missing}}."
        msgstr "Pour ajouter des lignes ici, affichez d’abord ces colonnes : {{missing}}."

        msgid "Save the rows"
        msgstr "Enregistrer les lignes"

        msgid "There is nothing to edit. <1>Back to the list</1>"
        msgstr "Il n’y a rien à modifier. <1>Retour à la liste</1>"

        # Packages/Server/AdminPanel/Templates/rows_table.mustache

        msgid "Current value: {{.}}"
        msgstr "Valeur actuelle : {{.}}"

        # Packages/Server/AdminPanel/Templates/schedule.mustache

        msgid "What the servers do automatically, with the last run of each job in any process."
        msgstr "Ce que les serveurs font automatiquement, avec la dernière exécution de chaque tâche, tous processus confondus."

        msgid "Last run"
        msgstr "Dernière exécution"

        msgid "Next run"
        msgstr "Prochaine exécution"

        msgid "Result"
        msgstr "Résultat"

        msgid "Run now<1> {{title}}</1>"
        msgstr "Lancer maintenant<1> {{title}}</1>"

        # Packages/Server/AdminPanel/Templates/second_factor.mustache

        msgid "With a second factor, you also enter a code from an app on your phone when you log in or confirm your password. This applies to the panel and to this server's API. Devices that sync don't ask for a code."
        msgstr "Avec un second facteur, vous saisissez aussi un code d’une application sur votre téléphone quand vous vous connectez ou confirmez votre mot de passe. Cela vaut pour le panneau et pour l’API de ce serveur. Les appareils synchronisés ne demandent pas de code."

        msgid "Your account requires a second factor. Set it up to continue."
        msgstr "Votre compte exige un second facteur. Configurez-le pour continuer."

        msgid "<1>on</1> since {{exact}}"
        msgstr "<1>activé</1> depuis le {{exact}}"

        msgid "off"
        msgstr "désactivé"

        msgid "Create new ones."
        msgstr "Créez-en de nouveaux."

        msgid "Create new recovery codes"
        msgstr "Créer de nouveaux codes de récupération"

        msgid "Turn it off"
        msgstr "Le désactiver"

        # Packages/Server/AdminPanel/Templates/second_factor_set_up.mustache

        msgid "Scan this with an authenticator app, or type the secret into it."
        msgstr "Scannez ce code avec une application d’authentification, ou saisissez-y le secret."

        msgid "QR code for the authenticator app"
        msgstr "Code QR pour l’application d’authentification"

        msgid "Secret"
        msgstr "Secret"

        msgid "Enter the code that the app shows"
        msgstr "Saisissez le code affiché par l’application"

        msgid "Confirm"
        msgstr "Confirmer"

        # Packages/Server/AdminPanel/Templates/setting.mustache

        msgid "Only an address that begins with https:// can be entered here: people who use the panel can't make the server run programs or write files. Programs, folders and the secret for an address are set where the server is started. An address with a secret in its path belongs there too, because database backups contain what is entered here."
        msgstr "Seule une adresse qui commence par https:// peut être saisie ici : les personnes qui utilisent le panneau ne peuvent pas faire exécuter de programmes ni écrire de fichiers au serveur. Les programmes, les dossiers et le secret qu’exige une adresse sont définis là où le serveur est lancé. Une adresse dont le chemin contient un secret s’y définit aussi, car les sauvegardes de la base de données contiennent ce qui est saisi ici."

        msgid "Set where the server is started, so it can't be changed here."
        msgstr "Défini là où le serveur est lancé ; ne peut pas être modifié ici."

        msgid "Now: <1>{{hidden}}</1>"
        msgstr "Actuellement : <1>{{hidden}}</1>"

        msgid "Without a value: {{fallback}}"
        msgstr "Sans valeur : {{fallback}}"

        msgid "Use the default again"
        msgstr "Utiliser de nouveau la valeur par défaut"

        # Packages/Server/AdminPanel/Templates/settings.mustache

        msgid "The test mail wasn't accepted. {{message}}"
        msgstr "L’e-mail de test n’a pas été accepté. {{message}}"

        msgid "This server's configuration. Settings with a link can be changed here, and all admin servers of the database use the new value within a few seconds. Change the other variables where the server is started, such as in its unit file or its container, and restart it. <1>admin-server --help</1> lists the same variables."
        msgstr "Les paramètres avec lesquels ce serveur fonctionne. Ceux qui ont un lien peuvent être modifiés ici, et tous les serveurs d’administration de la base de données les appliquent en quelques secondes. Changez les autres variables là où le serveur est lancé, par exemple dans son fichier d’unité ou son conteneur, puis redémarrez-le. <1>admin-server --help</1> liste les mêmes variables."

        msgid "Listens on"
        msgstr "À l’écoute sur"

        msgid "Database"
        msgstr "Base de données"

        msgid "version {{modelVersion}}"
        msgstr "version {{modelVersion}}"

        msgid "Variable"
        msgstr "Variable"

        msgid "What it does"
        msgstr "À quoi elle sert"

        msgid "set"
        msgstr "définie"

        msgid "not set ({{fallback}})"
        msgstr "non définie ({{fallback}})"

        msgid "Set where the server is started."
        msgstr "Défini là où le serveur est lancé."

        msgid "Change<1> {{name}}</1>"
        msgstr "Modifier<1> {{name}}</1>"

        msgid "Test mail"
        msgstr "E-mail de test"

        msgid "Sends a mail to {{email}} and shows what the carrier answers."
        msgstr "Envoie un e-mail à {{email}} et affiche la réponse du service d’envoi."

        msgid "Send a test mail to my address"
        msgstr "Envoyer un e-mail de test à mon adresse"

        msgid "There is nothing to test until <1>{{mailVariable}}</1> is set."
        msgstr "Il n’y a rien à tester tant que <1>{{mailVariable}}</1> n’est pas définie."

        # Packages/Server/AdminPanel/Templates/sql.mustache

        msgid "Runs one read-only statement as the database user in <1>{{variable}}</1>, whose privileges decide what you see: the apps' rules don't apply here. It runs for {{seconds}} seconds at most, shows up to {{maximumRows}} rows, and any changes are rolled back. The server's log has every statement and who ran it."
        msgstr "Exécute une seule instruction en lecture seule, en tant que l’utilisateur de la base de données indiqué dans <1>{{variable}}</1>, dont les droits décident de ce que vous voyez : les règles des applications ne s’appliquent pas ici. Elle dure au plus {{seconds}} secondes, affiche jusqu’à {{maximumRows}} lignes, et toute modification est annulée. Le journal du serveur contient chaque instruction et son auteur."

        msgid "Statement"
        msgstr "Instruction"

        msgid "With JavaScript, Ctrl+Enter (⌘ and Enter on a Mac) runs it too."
        msgstr "Ctrl+Entrée (⌘ et Entrée sur un Mac) l’exécute aussi, avec JavaScript."

        msgid "Run"
        msgstr "Exécuter"

        msgid "NULL"
        msgstr "NULL"

        msgid "… cut"
        msgstr "… tronqué"

        # Packages/Server/AdminPanel/Templates/trash.mustache

        msgid "Deleted objects, newest first, each with what was deleted along with it. They can be restored until they are deleted permanently."
        msgstr "Les objets supprimés, les plus récents d’abord, chacun avec ce qui a été supprimé en même temps. Ils peuvent être restaurés jusqu’à leur suppression définitive."

        msgid "All classes"
        msgstr "Toutes les classes"

        msgid "The trash of {{.}} is empty."
        msgstr "La corbeille est vide : {{.}}."

        msgid "The trash is empty."
        msgstr "La corbeille est vide."

        msgid "Including"
        msgstr "Avec"

        msgid "Moved to trash"
        msgstr "Mise à la corbeille"

        msgid "never"
        msgstr "jamais"

        msgid "kept: {{.}}"
        msgstr "conservé : {{.}}"

        msgid "Restore all of {{chosenTitle}}…"
        msgstr "Tout restaurer : {{chosenTitle}}…"

        msgid "Empty the trash of {{.}}…"
        msgstr "Vider la corbeille : {{.}}…"

        msgid "Empty the trash…"
        msgstr "Vider la corbeille…"

        # Packages/Server/AdminPanel/Templates/trash_confirm.mustache

        msgid "<1>This can't be undone.</1> It permanently deletes:"
        msgstr "<1>Cette action est irréversible.</1> Seront supprimés définitivement :"

        msgid "Not deleted"
        msgstr "Non supprimés"

        # Packages/Server/AdminPanel/Templates/trash_emptying.mustache

        msgid "{{done}} of {{total}}"
        msgstr "{{done}} sur {{total}}"

        msgid "Stop"
        msgstr "Arrêter"

        msgid "Back to the trash"
        msgstr "Retour à la corbeille"

        # Packages/Server/AdminPanel/Templates/trash_group.mustache

        msgid "{{className}}, with {{.}}"
        msgstr "{{className}}, avec {{.}}"

        msgid "Open what it belongs to"
        msgstr "Ouvrir ce dont il fait partie"

        msgid "never automatically"
        msgstr "jamais automatiquement"

        msgid "Kept because"
        msgstr "Motif de conservation"

        msgid "View the live one"
        msgstr "Voir l’objet actif"

        msgid "New {{property}}"
        msgstr "Nouvelle valeur : {{property}}"

        msgid "Contents"
        msgstr "Contenu"

        # Packages/Server/AdminPanel/Templates/trash_purge.mustache

        msgid "Every hour, one of the admin servers permanently deletes what has been in the trash for as long as its class says."
        msgstr "Toutes les heures, l’un des serveurs d’administration supprime définitivement ce qui est dans la corbeille depuis aussi longtemps que le prévoit sa classe."

        msgid "See what it would delete now"
        msgstr "Voir ce qu’elle supprimerait maintenant"

        msgid "Run it now"
        msgstr "La lancer maintenant"

        msgid "What it would delete now"
        msgstr "Ce qu’elle supprimerait maintenant"

        msgid "Nothing is due."
        msgstr "Rien n’est arrivé à échéance."

        msgid "Group"
        msgstr "Groupe"

        msgid "Due"
        msgstr "Échéance"

        msgid "There are more: only the first are shown."
        msgstr "Il y en a d’autres : seuls les premiers sont affichés."

        msgid "How long things stay"
        msgstr "Durée de conservation"

        msgid "Days"
        msgstr "Jours"

        msgid "Other times can be set in the table <1>tombolo.trash_retention</1>."
        msgstr "D’autres durées peuvent être définies dans la table <1>tombolo.trash_retention</1>."

        msgid "What it couldn't delete"
        msgstr "Ce qu’elle n’a pas pu supprimer"

        msgid "Nothing."
        msgstr "Rien."

        msgid "Blocked by"
        msgstr "Bloqué par"

        msgid "Tried"
        msgstr "Tentatives"

        msgid "Runs"
        msgstr "Exécutions"

        msgid "It hasn't run yet."
        msgstr "Elle n’a pas encore été exécutée."

        msgid "Ended"
        msgstr "Fin"

        msgid "Groups"
        msgstr "Groupes"

        msgid "Kept"
        msgstr "Conservés"

        msgid "Problem"
        msgstr "Problème"

        # Packages/Server/AdminPanel/Templates/view_as.mustache

        msgid "View the panel as somebody with a role, or another user, sees it. While you do, you can't change anything, every page says so, and what you view is logged. You can't view as somebody who may see more than you."
        msgstr "Voyez le panneau comme le voit une personne ayant un rôle, ou un autre utilisateur. Pendant ce temps, vous ne pouvez rien modifier, chaque page le rappelle, et ce que vous consultez est journalisé. Vous ne pouvez pas voir en tant que quelqu’un qui peut voir plus que vous."

        msgid "Within"
        msgstr "Dans"

        msgid "What the role is for, such as an event: its title or its id. Empty for none."
        msgstr "Ce à quoi le rôle s’applique, comme un événement : son titre ou son identifiant. Vide pour aucun."

        msgid "Or a user"
        msgstr "Ou un utilisateur"

        msgid "Their address or id. The page of an account has a button for it."
        msgstr "Son adresse ou son identifiant. La page d’un compte a un bouton pour cela."

        # Packages/Server/AdminPanel/Templates/why.mustache

        msgid "What somebody may do with a class, by which role, and what would have to change for the rest. The answer comes from the rules in force."
        msgstr "Ce qu’une personne peut faire avec une classe, par quel rôle, et ce qui devrait changer pour le reste. La réponse vient des règles en vigueur."

        msgid "An e-mail address or an id. Leave it empty to ask about the role alone."
        msgstr "Une adresse e-mail ou un identifiant. Laissez vide pour une question sur le rôle seul."

        msgid "The id of one object. Leave it empty to ask about the class in general."
        msgstr "L’identifiant d’un objet. Laissez vide pour une question sur la classe en général."

        msgid "Explain"
        msgstr "Expliquer"

        msgid "Verdict"
        msgstr "Verdict"

        msgid "Which objects"
        msgstr "Quels objets"

        msgid "What decides"
        msgstr "Ce qui décide"

        msgid "because of {{.}}"
        msgstr "en raison de : {{.}}"

        msgid "The rule<1> for {{operation}}</1>"
        msgstr "La règle<1> pour {{operation}}</1>"

        msgid "It would need"
        msgstr "Il faudrait"

        msgid "Properties that stay hidden: {{.}}."
        msgstr "Propriétés qui restent cachées : {{.}}."

        msgid "Properties that can't be changed: {{.}}."
        msgstr "Propriétés non modifiables : {{.}}."

        msgid "Permissions without a role: {{.}}."
        msgstr "Autorisations sans rôle : {{.}}."

        msgid "Roles in the rules, in the order in which they are tried"
        msgstr "Rôles dans les règles, dans l’ordre où ils sont examinés"

        # Packages/Server/AdminPanel/Assets/panel.js

        msgctxt "script"
        msgid "Copy"
        msgstr "Copier"

        msgctxt "script"
        msgid "Copied"
        msgstr "Copié"

        msgctxt "script"
        msgid "Format {0}"
        msgstr "Mise en forme : {0}"

        msgctxt "script"
        msgid "Bold"
        msgstr "Gras"

        msgctxt "script"
        msgid "Italic"
        msgstr "Italique"

        msgctxt "script"
        msgid "Heading"
        msgstr "Titre"

        msgctxt "script"
        msgid "Link"
        msgstr "Lien"

        msgctxt "script"
        msgid "List"
        msgstr "Liste"

        msgctxt "script"
        msgid "Quote"
        msgstr "Citation"

        msgctxt "script"
        msgid "Code"
        msgstr "Code"

        msgctxt "script"
        msgid "Preview of {0}"
        msgstr "Aperçu : {0}"

        msgctxt "script"
        msgid "The preview can't be shown at the moment."
        msgstr "L’aperçu ne peut pas être affiché en ce moment."

        msgctxt "script"
        msgid "The text is too long to be formatted."
        msgstr "Le texte est trop long pour être mis en forme."

        msgctxt "script"
        msgid "The text is empty."
        msgstr "Le texte est vide."

        msgctxt "script"
        msgid "Preview"
        msgstr "Aperçu"

        msgctxt "script"
        msgid "Map for {0}"
        msgstr "Carte : {0}"

        msgctxt "script"
        msgid "The map can't be shown at the moment."
        msgstr "La carte ne peut pas être affichée en ce moment."

        msgctxt "script"
        msgid "Zoom in"
        msgstr "Zoom avant"

        msgctxt "script"
        msgid "Zoom out"
        msgstr "Zoom arrière"

        msgctxt "script"
        msgid "North"
        msgstr "Nord"

        msgctxt "script"
        msgid "South"
        msgstr "Sud"

        msgctxt "script"
        msgid "West"
        msgstr "Ouest"

        msgctxt "script"
        msgid "East"
        msgstr "Est"

        msgctxt "script"
        msgid "The data on this page has changed."
        msgstr "Les données de cette page ont changé."

        msgctxt "script"
        msgid "Reload"
        msgstr "Recharger"

        msgctxt "script"
        msgid "Your session has ended."
        msgstr "Votre session est terminée."

        msgctxt "script"
        msgid "Log in again"
        msgstr "Se reconnecter"

        msgctxt "script"
        msgid "You entered your password or a code in another window."
        msgstr "Vous avez saisi votre mot de passe ou un code dans une autre fenêtre."

        msgctxt "script"
        msgid "{0} ticked"
        msgstr "lignes cochées : {0}"

        msgctxt "script"
        msgid "You have an unsaved draft of this form from {0}."
        msgstr "Vous avez un brouillon non enregistré de ce formulaire du {0}."

        msgctxt "script"
        msgid "Restore the draft"
        msgstr "Restaurer le brouillon"

        msgctxt "script"
        msgid "Discard"
        msgstr "Abandonner"

        msgctxt "script"
        msgid "Switch the keys on"
        msgstr "Activer les raccourcis clavier"

        msgctxt "script"
        msgid "Switch the keys off"
        msgstr "Désactiver les raccourcis clavier"

        # Packages/Server/AdminService/Settings/AdminServer+Variables.swift

        msgid "Network"
        msgstr "Réseau"

        msgid "Mail"
        msgstr "E-mails"

        msgid "Maps"
        msgstr "Cartes"

        msgid "Images"
        msgstr "Images"

        msgid "Languages"
        msgstr "Langues"

        msgid "Monitoring"
        msgstr "Supervision"

        msgid "postgresql://USER:PASSWORD@HOST:PORT/DATABASE. USER has the rights of the role tombolo_admin: see docs/database-roles.md"
        msgstr "postgresql://USER:PASSWORD@HOST:PORT/DATABASE. USER a les droits du rôle tombolo_admin : voir docs/database-roles.md"

        msgid "a separate database user that may only SELECT, for the panel's SQL page: see docs/database-roles.md"
        msgstr "un utilisateur de la base réservé à la page SQL, qui n’a droit qu’à SELECT : voir docs/database-roles.md"

        msgid "no SQL page"
        msgstr "pas de page SQL"

        msgid "a separate database user that acts as the owner of the tables, for changing models and rules in the panel: see docs/database-roles.md"
        msgstr "un utilisateur de la base réservé à cet usage, qui agit comme propriétaire des tables, pour modifier les modèles et les règles dans le panneau : voir docs/database-roles.md"

        msgid "they are changed with migration-tool"
        msgstr "ils se modifient avec migration-tool"

        msgid "the address to listen on"
        msgstr "l’adresse d’écoute"

        msgid "the port to listen on, 0 for a free one"
        msgstr "le port d’écoute, 0 pour un port libre"

        msgid "the address of this server, such as https://admin.example.org: links in mails begin with it. With it and TOMBOLO_MAIL, users can reset forgotten passwords"
        msgstr "où joindre ce serveur, par exemple https://admin.example.org : les liens des e-mails commencent ainsi. Avec TOMBOLO_MAIL, permet de remplacer un mot de passe oublié"

        msgid "proxies in front of this server, such as 10.0.0.0/8, 2001:db8::7. X-Forwarded-For and Forwarded are trusted only from these; they must set one of the two, or speak the PROXY protocol"
        msgstr "proxys devant ce serveur, par exemple 10.0.0.0/8, 2001:db8::7. X-Forwarded-For et Forwarded ne sont crus que s’ils viennent d’eux ; ils doivent en fournir un, ou parler le protocole PROXY"

        msgid "on: every connection from a trusted proxy begins with a PROXY protocol header, before TLS, and no other connection does"
        msgstr "on : chaque connexion d’un proxy de confiance commence, avant TLS, par un en-tête du protocole PROXY, et aucune autre"

        msgid "how many connections one address may have at a time"
        msgstr "connexions simultanées d’une adresse"

        msgid "a PEM file for HTTPS: the certificate with its chain. It may be replaced while the server runs; SIGHUP reloads it at once"
        msgstr "un fichier PEM pour HTTPS : le certificat et sa chaîne. Il peut être remplacé pendant que le serveur tourne ; SIGHUP le relit aussitôt"

        msgid "none: HTTP"
        msgstr "aucun : HTTP"

        msgid "a PEM file with the certificate's key, replaced in the same way"
        msgstr "un fichier PEM avec la clé du certificat, à remplacer de la même façon"

        msgid "the key for access tokens, the same on all servers, at least 32 bytes. Generate one with: openssl rand -hex 32"
        msgstr "la clé des jetons d’accès, la même sur tous les serveurs, d’au moins 32 octets. Pour en créer une : openssl rand -hex 32"

        msgid "who needs a second factor: optional, users who have set one up; everywhere, also users with a role that applies everywhere, who must set one up; everybody, all users"
        msgstr "à qui un second facteur est demandé : optional, à ceux qui en ont configuré un ; everywhere, aussi à tous ceux dont un rôle vaut partout, qui doivent en configurer un ; everybody, à tout le monde"

        msgid "a sorted file of SHA-1 hashes of passwords to refuse"
        msgstr "un fichier trié d’empreintes SHA-1 de mots de passe à refuser"

        msgid "only very common passwords are refused"
        msgstr "seuls les mots de passe très courants sont refusés"

        msgid "how to send mail: folder:/path, https://… or command:/usr/sbin/sendmail -t -i"
        msgstr "qui envoie les e-mails : folder:/path, https://… ou command:/usr/sbin/sendmail -t -i"

        msgid "none: the person who invites somebody gets the link to pass on"
        msgstr "personne : celui qui invite reçoit le lien à transmettre"

        msgid "sent as a bearer token with each mail to an https:// address"
        msgstr "envoyé comme jeton Bearer avec chaque e-mail vers une adresse https://"

        msgid "where the links in invitations lead; the token is added as token="
        msgstr "où mènent les liens d’invitation ; le jeton est ajouté sous la forme token="

        msgid "TOMBOLO_ADMIN_URL's panel"
        msgstr "le panneau de TOMBOLO_ADMIN_URL"

        msgid "where the panel gets its map tiles, such as https://tile.openstreetmap.org/{z}/{x}/{y}.png. That server learns who looks at which place"
        msgstr "d’où viennent les cartes du panneau, par exemple https://tile.openstreetmap.org/{z}/{x}/{y}.png ; ce serveur apprend qui regarde quel lieu"

        msgid "places are shown as text and a link"
        msgstr "les lieux sont en mots, avec un lien"

        msgid "the credit below a map"
        msgstr "ce qui est sous une carte"

        msgid "© OpenStreetMap contributors"
        msgstr "© les contributeurs d’OpenStreetMap"

        msgid "the absolute path of libvips's vipsthumbnail, which makes image thumbnails in a separate process; off for none"
        msgstr "le chemin absolu de vipsthumbnail, de libvips, qui fait des miniatures dans un processus à part ; off pour aucune"

        msgid "the one on the PATH, if there is one"
        msgstr "celui du PATH, s’il y en a un"

        msgid "a folder with files such as de.po: more languages for the panel and mails, and names of classes and properties. See docs/translations.md"
        msgstr "un dossier de fichiers comme de.po : d’autres langues du panneau et des e-mails, et des noms de classes et de propriétés ; voir docs/translations.md"

        msgid "the languages that come with the panel"
        msgstr "les langues fournies avec le panneau"

        msgid "a folder that the server's user owns, mode 0700, for backups in the panel. Needs pg_dump on the PATH: see docs/backups.md"
        msgstr "un dossier de l’utilisateur du serveur, en mode 0700, pour les sauvegardes du panneau. Exige pg_dump dans le PATH : voir docs/backups.md"

        msgid "none are made"
        msgstr "aucune n’est faite"

        msgid "postgresql://… with a user who may read the whole database"
        msgstr "postgresql://… d’un utilisateur qui peut lire toute la base"

        msgid "hours between automatic backups, 0 for none"
        msgstr "heures entre les sauvegardes automatiques, 0 pour aucune"

        msgid "how many automatic backups to keep"
        msgstr "combien de sauvegardes automatiques sont gardées"

        msgid "postgresql://…/postgres with a user who may create and rename databases, to restore backups in the panel. Needs pg_restore on the PATH: see docs/backups.md"
        msgstr "postgresql://…/postgres d’un utilisateur qui peut créer et renommer des bases de données, pour restaurer des sauvegardes ici. Il faut pg_restore dans le PATH : voir docs/backups.md"

        msgid "they are restored on the command line"
        msgstr "elles se restaurent en ligne de commande"

        msgid "trace, debug, info, notice, warning, error or critical"
        msgstr "trace, debug, info, notice, warning, error ou critical"

        msgid "info"
        msgstr "info"

        msgid "how many days to keep requests in the database for the panel, the same on all admin servers; 0 keeps only the latest, in memory"
        msgstr "nombre de jours pendant lesquels les requêtes sont conservées dans la base de données pour le panneau, le même sur tous les serveurs d’administration ; 0 pour ne garder que les dernières en mémoire"

        msgid "serve GET /metrics for Prometheus on this port, without a token; 0 for a free one"
        msgstr "servir GET /metrics pour Prometheus sur ce port, sans jeton ; 0 prend un port libre"

        msgid "no metrics"
        msgstr "pas de métriques"

        msgid "the address to serve metrics on; only the operator's network may reach it"
        msgstr "l’adresse correspondante : seul le réseau de l’exploitant doit pouvoir la joindre"

        """#
}
