// This file is empty. It lets the package declare a function of another package, which has no body here.
